// @ts-check
import { isTransient } from "./error.js";

/** The type of presence: whether an account is online, and its status. */
export const PRESENCE = 1;

/**
 * A device on which an account is logged in.
 * @typedef {object} Device
 * @property {string} client the kind of client: `web`, `ios` ...
 * @property {string} device its name
 * @property {boolean} [push] it is not connected and only push-reachable
 * @property {"chat" | "away" | "xa" | "dnd"} [show] how it presents itself; absent: available
 * @property {string} [text] what the user says about it
 * @property {number} [priority] absent: 0
 */

/**
 * @typedef {object} Status
 * @property {number} value the app's own, from 10000 up
 * @property {string} [text] what accompanies it
 * @property {number} expires in milliseconds since 1970
 */

/**
 * What is known of an account. It never changes: a change makes a new one.
 * @typedef {Readonly<PresenceMembers>} Presence
 */

/**
 * @typedef {object} PresenceMembers
 * @property {string} account
 * @property {number} type
 * @property {"online" | "away" | "offline" | "unknown"} is `away`: online, and away on each
 *   connected device; `unknown` until the service has answered, and for types from 100 up, which do
 *   not say it
 * @property {boolean} live it is current; false: it may be old, or nothing is known yet
 * @property {readonly Device[]} devices in order of login
 * @property {Status} [status] what the account has set, if it has not expired
 * @property {number} [lastSeen] in milliseconds since 1970; absent while online or if never seen
 * @property {string} [cause] of the last change: `login`, `logout`, `publish` ...
 */

/** @typedef {(presence: Presence) => void} Observer */

/**
 * The state of one publisher and type, and when to subscribe to it.
 * @typedef {object} Topic
 * @property {Presence} presence
 * @property {number} seq
 * @property {number} [session] in which it was received: in another, a lower one is a new history
 * @property {number} due when to subscribe next; Infinity while a request is unanswered
 * @property {number} until when the subscription expires; 0 without one
 * @property {number} calm until when it is not requested at once if another program ends it
 * @property {import("./error.js").PorchlightError} [error] why it is not subscribed to
 * @property {Set<Observer>} observers
 */

/**
 * Devices that are not connected do not tell whether the user is there.
 * @param {readonly Device[]} devices
 */
const reach = (devices) => {
  const connected = devices.filter(({ push }) => !push);
  const isAway =
    connected[0] && connected.every(({ show }) => show === "away" || show === "xa");
  return isAway ? "away" : devices[0] ? "online" : "offline";
};

/**
 * @param {Topic} topic
 * @param {Presence} presence
 */
const show = (topic, presence) => {
  topic.presence = Object.freeze(presence);
  for (const observer of topic.observers) observer(presence);
};

/** @param {Topic} topic */
const stale = (topic) => {
  if (topic.presence.live) show(topic, { ...topic.presence, live: false });
};

/**
 * Asks for it as soon as possible. A request that is unanswered does.
 * @param {Topic} topic
 */
const ask = (topic) => {
  stale(topic);
  if (topic.due < Infinity) topic.due = 0;
};

/** The topics that are wanted, and those that were and may still have a subscription. */
export class Topics {
  /** @type {Map<string, Topic>} */ #topics = new Map();
  /** What to call when no more changes will follow, or something is not subscribed to. */
  /** @type {Set<() => void>} */ looks = new Set();
  isOver = false;
  #session = 0;
  /** Something is no longer wanted that has a subscription: there is room for something else. */
  #isRoomy = false;

  /** No more changes will follow. */
  end() {
    this.isOver = true;
    this.look();
  }

  look() {
    for (const look of this.looks) look();
  }

  /**
   * Adds an observer, which is given each change, and returns what is known.
   * @param {number} type
   * @param {string} account
   * @param {Observer} observer
   */
  want(type, account, observer) {
    const key = type + ":" + account;
    let topic = this.#topics.get(key);
    if (!topic) {
      /** @type {Presence} */
      const presence = { account, type, is: "unknown", live: false, devices: [] };
      topic = {
        presence: Object.freeze(presence), seq: -1, due: 0, until: 0, calm: 0,
        observers: new Set(),
      };
      this.#topics.set(key, topic);
    }
    // Another device may have ended the subscription while it was not wanted.
    if (!topic.observers.size) ask(topic);
    topic.observers.add(observer);
    return topic.presence;
  }

  /**
   * Removes an observer. Nothing is unsubscribed: a subscription is the account's, and another of
   * its devices may need it. But it is no longer renewed.
   * @param {number} type
   * @param {string} account
   * @param {Observer} observer
   */
  leave(type, account, observer) {
    const topic = this.#topics.get(type + ":" + account);
    if (!topic?.observers.delete(observer) || topic.observers.size) return;
    topic.error = undefined;
    if (topic.until) this.#isRoomy = true;
  }

  /**
   * Takes an event or a state, unless a newer one is known from this session. A service that has
   * lost its database numbers from the beginning again.
   * @param {any} event as in the protocol
   */
  apply({ type, publisher, seq, cause, online, status, lastSeen }) {
    const topic = this.#topics.get(type + ":" + publisher);
    if (!topic || (seq < topic.seq && topic.session === this.#session)) return;
    const known = topic.presence;
    /** @type {Presence} */
    const presence = {
      account: publisher,
      type,
      is: online ? reach(online) : "unknown",
      live: true,
      devices: online ?? [],
      status: status && { value: status.value, text: status.ext, expires: status.expires },
      lastSeen,
      // A state with nothing new does not hide what happened last.
      cause: seq === topic.seq ? known.cause : cause,
    };
    // Renewals repeat what is known: no change.
    const isNew = seq !== topic.seq || JSON.stringify(presence) !== JSON.stringify(known);
    topic.seq = seq;
    topic.session = this.#session;
    if (isNew) show(topic, presence);
  }

  /**
   * Takes topics of one type to subscribe to now.
   * @param {number} now
   * @param {number} countMax
   * @returns {Topic[]}
   */
  takeDue(now, countMax) {
    if (this.#isRoomy) {
      this.#isRoomy = false;
      for (const topic of this.#topics.values()) {
        if (topic.error?.reason === "subscription_quota" && topic.due < Infinity) topic.due = 0;
      }
    }
    const taken = this.#some((topic) => topic.observers.size && topic.due <= now, countMax);
    for (const topic of taken) topic.due = Infinity;
    return taken;
  }

  /** When to subscribe next. */
  nextDue() {
    let next = Infinity;
    for (const { due, observers } of this.#topics.values()) {
      if (observers.size && due < next) next = due;
    }
    return next;
  }

  /**
   * Removes topics of one type that are subscribed to and not wanted, and returns them.
   * @param {number} now
   * @param {number} countMax
   * @returns {Topic[]}
   */
  takeIdle(now, countMax) {
    const idle = this.#some(
      (topic) => !topic.observers.size && topic.due < Infinity && topic.until > now, countMax);
    for (const { presence } of idle) this.#topics.delete(presence.type + ":" + presence.account);
    return idle;
  }

  /**
   * Subscriptions have ended.
   * @param {number} type
   * @param {string[]} accounts
   * @param {number} now
   * @param {number} [next] another program has ended them: when to request them if it did so
   *   a short time before
   */
  expire(type, accounts, now, next) {
    for (const account of accounts) {
      const topic = this.#topics.get(type + ":" + account);
      if (!topic) continue;
      ask(topic);
      topic.until = 0;
      if (!next) continue;
      if (now < topic.calm && topic.due < Infinity) topic.due = next;
      topic.calm = 2 * next - now;
    }
  }

  /** The connection was lost: nothing is current, and no request will be answered. */
  lose() {
    this.#session += 1;
    for (const topic of this.#topics.values()) {
      stale(topic);
      topic.error = undefined;
      if (topic.due === Infinity) topic.due = 0;
    }
  }

  /**
   * How many of the wanted topics have a subscription that lasts longer; all, with -1.
   * @param {number} now
   */
  count(now) {
    let count = 0;
    for (const { observers, until } of this.#topics.values()) {
      if (observers.size && until > now) count += 1;
    }
    return count;
  }

  /** Why something that is wanted is not subscribed to. */
  get error() {
    for (const { error, observers } of this.#topics.values()) {
      if (error && observers.size) return error;
    }
  }

  /**
   * Whether the service has answered, for good or for now: with a state, or with a rejection.
   * @param {Presence} presence
   */
  isKnown({ type, account, cause }) {
    const error = this.#topics.get(type + ":" + account)?.error;
    return !!cause || (!!error && !isTransient(error));
  }

  /** Asks for what is not current as soon as possible. */
  refresh() {
    for (const topic of this.#topics.values()) {
      if (!topic.presence.live) ask(topic);
    }
  }

  /**
   * Forgets what is neither wanted nor subscribed to.
   * @param {number} now
   */
  forget(now) {
    for (const [key, { observers, until, due }] of this.#topics) {
      if (!observers.size && until <= now && due < Infinity) this.#topics.delete(key);
    }
  }

  /**
   * Topics of one type that meet a condition.
   * @param {(topic: Topic) => unknown} condition
   * @param {number} countMax
   */
  #some(condition, countMax) {
    /** @type {Topic[]} */ const some = [];
    for (const topic of this.#topics.values()) {
      if (some.length === countMax) break;
      if (condition(topic) && (!some.length || some[0].presence.type === topic.presence.type)) {
        some.push(topic);
      }
    }
    return some;
  }
}
