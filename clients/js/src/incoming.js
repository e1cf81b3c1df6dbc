// @ts-check
import { isTransient } from "./error.js";

/** @typedef {import("./connection.js").Environment} Environment */
/** @typedef {import("./subscriber.js").Asking} Asking */
/** @typedef {import("./subscriber.js").Subscriber} Subscriber */

/**
 * @typedef {object} MessageMembers
 * @property {string} id the same each time that the service sends the message
 * @property {string} [from] the account that sent it; absent if the service did
 * @property {string} [fromDevice] its device; absent if an app server sent it
 * @property {number} time when it was sent, in milliseconds since 1970
 * @property {string} body empty in some messages of XMPP clients, and in receipts
 * @property {string} [ext] for the app
 * @property {string} [ref] the sender's own name of the message
 * @property {string} [receipt] the `stanzaId` of an own message that has arrived
 * @property {string} [type] of a message of an XMPP client: `chat` or `normal`
 * @property {string} [stanzaId] of the same: its id, for a receipt
 * @property {string} [xml] of the same: its further elements
 * @property {true} [own] another session of this account has sent it, or an app server for it
 * @property {string[]} [to] of an own message: the accounts that it is for
 * @property {string} [device] of an own message: the only device that it is for
 */

/**
 * A message for the account.
 * @typedef {Readonly<MessageMembers>} Message
 */

/** Messages that a repeat is compared with: the last that were taken. */
const KNOWN_MAX = 1_000;

/** Own messages that wait for a loop: of more, the oldest are dropped. */
const OWN_MAX = 100;

/**
 * What makes two messages the same. Names of accounts have no line feed.
 * @param {Message} message
 */
const keys = ({ id, from = "", ref, own }) =>
  own ? [`own ${id}`] : ref === undefined ? [id] : [id, `${from}\n${ref}`];

/** The messages that were received and not taken. */
export class Incoming {
  #environment;
  #subscriber;
  #request;
  /** What this session was sent and has not given, in that order. */
  /** @type {Message[]} */ #waiting = [];
  /** What a loop was given and has not left behind. */
  /** @type {Message | undefined} */ #given;
  /** By this session, which was sent nothing before it that was not given. */
  #isGivenBySession = false;
  /** The keys of what was left behind, the oldest first. */
  /** @type {Set<string>} */ #known = new Set();
  /** Up to where this session may take. */
  /** @type {string | undefined} */ #takeable;
  /** Up to where it has asked to. */
  /** @type {string | undefined} */ #asked;
  #isTaking = false;
  #cancel = () => {};
  /** The loop that is given the messages. */
  /** @type {object | undefined} */ #loop;
  /** It is given own messages, too. */
  #givesOwn = false;
  #wake = () => {};
  #isOver = false;

  /**
   * @param {Environment} environment
   * @param {Subscriber} subscriber knows how long to wait after an error
   * @param {Asking} request
   */
  constructor(environment, subscriber, request) {
    this.#environment = environment;
    this.#subscriber = subscriber;
    this.#request = request;
  }

  /**
   * Each message once. It is taken when the next is asked for. The newest loop is given the
   * messages; those before it end. With `own` also what other sessions of the account have sent.
   * @param {boolean} own
   * @returns {AsyncGenerator<Message, void, void>}
   */
  async *messages(own) {
    const loop = (this.#loop = {});
    this.#givesOwn = own;
    if (!own) this.#waiting = this.#waiting.filter((message) => !message.own);
    this.#wake();
    /** @type {Message | undefined} */ let given;
    for (;;) {
      if (this.#loop !== loop || this.#isOver) return;
      if (given) this.#leave(given);
      given = this.#next();
      if (given) yield given;
      else await new Promise((resolve) => (this.#wake = () => resolve(undefined)));
    }
  }

  /** @param {Message[]} messages */
  receive(messages) {
    for (const message of messages) this.#waiting.push({ ...message, body: message.body ?? "" });
    this.#wake();
  }

  /**
   * Other sessions of the account have sent these. What no loop wants is not kept.
   * @param {Message[]} sent
   */
  copy(sent) {
    if (!this.#givesOwn) return;
    this.receive(sent.map((message) => ({ ...message, own: true })));
    const own = this.#waiting.filter((message) => message.own);
    const dropped = new Set(own.slice(0, -OWN_MAX));
    if (dropped.size) this.#waiting = this.#waiting.filter((message) => !dropped.has(message));
  }

  /** The connection was lost: what was not taken is sent again. */
  lose() {
    this.#cancel();
    this.#waiting = [];
    this.#isGivenBySession = this.#isTaking = false;
    this.#asked = this.#takeable = undefined;
  }

  /** Takes what was left behind, also if a request for an older one is not answered. */
  flush() {
    this.#isTaking = false;
    this.#take();
  }

  /** No more messages will follow. */
  end() {
    this.#isOver = true;
    this.#wake();
  }

  /**
   * What a loop gets next. One that an earlier loop did not leave behind comes first.
   */
  #next() {
    while (!this.#given && this.#waiting.length) {
      const message = /** @type {Message} */ (this.#waiting.shift());
      if (keys(message).some((key) => this.#known.has(key))) {
        this.#remember(message);
        if (!message.own) this.#takeable = message.id;
      } else {
        this.#given = Object.freeze(message);
        this.#isGivenBySession = !message.own;
      }
    }
    this.#take();
    return this.#given;
  }

  /**
   * The app has done with it.
   * @param {Message} message
   */
  #leave(message) {
    this.#remember(message);
    this.#given = undefined;
    // A later session may be sent it after others: it is taken when its turn comes.
    if (this.#isGivenBySession) this.#takeable = message.id;
  }

  /** @param {Message} message */
  #remember(message) {
    for (const key of keys(message)) {
      this.#known.delete(key);
      this.#known.add(key);
    }
    for (const key of this.#known) {
      if (this.#known.size <= 2 * KNOWN_MAX) return;
      this.#known.delete(key);
    }
  }

  /** Takes up to the newest that may be, with one request at a time. */
  #take() {
    const id = this.#takeable;
    if (this.#isTaking || id === this.#asked) return;
    this.#isTaking = true;
    this.#asked = id;
    const done = () => {
      this.#isTaking = false;
      this.#take();
    };
    this.#request("take", { id }, () => {
      this.#subscriber.failures = 0;
      done();
    }, (error) => {
      // What cannot be taken is sent again to a later session, and dropped then.
      if (!isTransient(error)) return done();
      this.#asked = undefined;
      this.#cancel = this.#environment.after(this.#subscriber.pause(error.data), done);
    });
  }
}
