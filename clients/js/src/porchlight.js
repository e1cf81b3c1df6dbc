// @ts-check
import { Connection, lost } from "./connection.js";
import { backoff } from "./environment.js";
import { PorchlightError, SIGNED_OUT } from "./error.js";
import { Statuses } from "./statuses.js";
import { Subscriber } from "./subscriber.js";
import { subject } from "./token.js";
import { PRESENCE, Topics } from "./topics.js";
import { Watch } from "./watch.js";

/**
 * @typedef {object} Options
 * @property {string | (() => string | Promise<string>)} [token] a signed token of the account, or
 *   how to get a new one; it is called for each login, and before the token expires. If it throws a
 *   `SignedOut`, the client is closed
 * @property {string} [account] the account, for a service with `--auth open`
 * @property {string} [device] the name of this device, which should stay the same for as long as
 *   the app is installed; in a browser each tab gets one by itself
 * @property {string} [client] the kind of client: `web`, `ios`, `linux` ...
 * @property {boolean} [pushReachable] the device receives push messages while not connected
 * @property {boolean | { sent: boolean }} [messages] the session receives the messages for the
 *   account: `messages()`; with `{ sent: true }` also what its other sessions send
 * @property {boolean} [contacts] the session is told of the contacts of the account: `contacts()`
 * @property {number} [leaseSeconds] how long subscriptions last if they are not renewed
 * @property {AwayOptions} [away] in a browser: this device is shown as away while nothing is done in
 *   the page
 * @property {boolean | ((text: string) => void)} [debug] `true`: the console says what happens; or
 *   what is given each line instead. Tokens, texts and messages are not part of it
 * @property {TLSOptions} [tls] for `porchlights://` in Node, Deno and Bun
 */

/**
 * @typedef {object} AwayOptions
 * @property {number} [after] after how many seconds without activity (default: 300)
 */

/**
 * @typedef {object} TLSOptions
 * @property {string | Uint8Array | Array<string | Uint8Array>} [ca] certificates in PEM to trust,
 *   instead of those of the runtime
 * @property {string} [servername] the name that the certificate must have, if it is not the URL's
 */

/**
 * @typedef {object} StatusOptions
 * @property {number} [type] 1 is presence (default); 100 to 65535 are the app's own
 * @property {string} [text] accompanies the value
 * @property {number} [seconds] how long it lasts, 60 to 604800 (default: 604800, a week)
 * @property {boolean} [durable] it survives a crash of the service from its confirmation on
 * @property {boolean} [whileOnline] it ends with this session: `close()` clears it, and 10 minutes
 *   after a connection was lost it expires. `seconds` has no effect
 */

/**
 * @typedef {object} LoopOptions
 * @property {boolean} [own] also what other sessions of the account have sent, and app servers for
 *   it, as messages with `own`
 */

/**
 * @typedef {object} Labels
 * @property {string} [alias] by which app servers send to the device
 * @property {string | Iterable<string>} [tags] the same
 * @property {string} [pushAddress] where push messages reach it
 */

/**
 * How a device presents itself.
 * @typedef {object} Availability
 * @property {"available" | "chat" | "away" | "xa" | "dnd"} [show] `xa`: away for a long time; `dnd`:
 *   do not disturb (default: `available`)
 * @property {string} [text] what the user says about it, at most 1024 bytes
 * @property {number} [priority] -128 to 127 (default: 0): the device with the highest is preferred
 */

/** @typedef {"open" | "approved" | "hidden"} Visibility */

/**
 * @typedef {object} MessageOptions
 * @property {string} [ext] for the app
 * @property {number} [expiry] for how many seconds the message waits, from the call on: 60 to
 *   2592000 (default: 604800, a week)
 * @property {string} [device] only for this device of the only recipient
 * @property {string} [receipt] the `stanzaId` of a message of an XMPP client that asks for a receipt:
 *   it has arrived. `body` may then be left out
 * @property {string} [ref] the sender's own name of the message, at most 64 bytes, by which
 *   recipients find repeats (default: a random one)
 */

/**
 * `connecting`: for the first time or again; `connected`: logged in; `waiting`: until the next
 * attempt; `closed`: there will be none.
 * @typedef {"connecting" | "connected" | "waiting" | "closed"} Condition
 */

/** @typedef {import("./connection.js").Environment} Environment */
/** @typedef {import("./topics.js").Presence} Presence */

/** After these the client must not reconnect by itself: protocol_violation, replaced, kicked. */
const FINAL = [4400, 4409, 4410];
const TOKEN_EXPIRED = 4402;
/** A session that lasts for this time ends a series of losses. In milliseconds. */
const LASTING = 30_000;
/** The longest random delay before the next attempt, unless the restart grace is shorter. */
const WAIT_SECONDS_MAX = 15;
/** A token is refreshed this time before it expires, in milliseconds. */
const REFRESH = 60_000;
/** The shortest time between two attempts to refresh a token, in milliseconds. */
const REFRESH_MIN = 5_000;
/** How long a status lasts that is to end with the session, unless it is renewed. */
const HELD_SECONDS = 600;
/** The options that need a part which is loaded before the first login. */
const OPTIONAL = /** @type {const} */ (["debug", "away", "messages", "contacts"]);
/** The states of all subscriptions are requested if at least a quarter of them is wanted here. */
const LIST_SHARE = 4;

/**
 * What to check if there is no session.
 * @param {string} reason
 * @param {string} url
 */
const advice = (reason, url) => {
  if (reason === "session_quota") return " Close other tabs or devices.";
  if (reason !== "lost" && reason !== "timeout") return "";
  const { origin } = globalThis.location ?? {};
  return ` Is ${url.split("?")[0]} a Porchlight${origin ? `, with websocket-origin ${origin}` : ""}?`;
};

const closed = () => new PorchlightError("The client was closed.", "closed");

/** @typedef {import("./watch.js").Changing<Event>} Changing */
const Target = /** @type {new () => Changing} */ (/** @type {unknown} */ (EventTarget));

/** A session that lasts: it reconnects, and keeps what is watched current. */
export class Porchlight extends Target {
  #environment;
  #url;
  #options;
  /** @type {Condition} */ #condition = "connecting";
  /** @type {PorchlightError | undefined} */ #error;
  #isChanged = false;
  #isWoken = false;
  /** @type {Connection | undefined} */ #connection;
  /** @type {Promise<{ name: string, release: () => void }> | undefined} */ #device;
  /** For which account the device was named. */
  /** @type {string | undefined} */ #deviceOf;
  /** That of the first login. */
  /** @type {string | undefined} */ #account;
  #isMeWanted = false;
  /** @type {Presence | undefined} */ #me;
  #topics = new Topics();
  #statuses;
  #subscriber;
  /** What was loaded when it was needed. */
  /** @type {Set<import("./connection.js").Part>} */ #parts = new Set();
  /** @type {Record<string, Promise<any> | undefined>} */ #loading = {};
  /** What the app has set, as it is to be shown. */
  /** @type {(availability: Availability) => Availability} */ #adjust = (availability) => availability;
  /** What this device is to present itself as. */
  /** @type {Availability | undefined} */ #availability;
  /** What the service has confirmed of it. */
  /** @type {Availability} */ #confirmed = {};
  /** The states of all subscriptions are being received. */
  #isListing = false;
  /** Sessions that did not last, one after the other. */
  #losses = 0;
  #waitSecondsMax = WAIT_SECONDS_MAX;
  /** The public key of the service's push messages, if it sends any. */
  /** @type {string | undefined} */ #pushKey;
  /** Reasons that the developer was told. @type {Set<string>} */ #told = new Set();
  /** When the session began; Infinity without one. */
  #since = Infinity;
  /** When the service allows the next attempt. */
  #notBefore = 0;
  #nextAttempt = 0;
  #stopListening;
  #cancelRetry = () => {};
  #cancelRenewal = () => {};
  #cancelRefresh = () => {};
  /** @type {import("./subscriber.js").Asking} */
  #request = (...request) => this.#connection?.request(...request);

  /**
   * Use `connect()`.
   * @param {string} url
   * @param {Options} options
   * @param {Environment} environment
   */
  constructor(url, options, environment) {
    super();
    this.#url = url;
    this.#options = options;
    this.#environment = environment;
    const request = this.#request;
    const wake = this.#wake;
    this.#subscriber = new Subscriber(
      environment, this.#topics, (options.leaseSeconds ?? 3_600) * 1_000, request, wake);
    this.#statuses = new Statuses(environment, this.#subscriber, request, wake);
    this.#stopListening = environment.listen(
      (wasHidden) => this.#hurry(wasHidden),
      () => this.#connection?.end(lost()));
    this.#connect();
  }

  /** Whether there is a session. A `change` event follows each change of it or of `error`. */
  get condition() {
    return this.#condition;
  }

  /**
   * Why there is no session; while there is one, why something that is watched is not subscribed
   * to. Outside browsers its `cause` is the error of the runtime, such as ECONNREFUSED.
   */
  get error() {
    return this.#error;
  }

  /** When the next attempt to connect begins, in milliseconds since 1970, if it is waited for. */
  get nextAttempt() {
    return this.#condition === "waiting" ? this.#nextAttempt : undefined;
  }

  /** The account of the first login, which is that of all others; undefined before it. */
  get account() {
    return this.#account;
  }

  /**
   * The presence of the account itself, as others see it; undefined before the first login. From
   * the first use on it is watched, and a `change` event follows each change.
   */
  get me() {
    this.#isMeWanted = true;
    this.#watchMe();
    return this.#me;
  }

  /**
   * A live map from accounts to what is known of them.
   * @param {string | Iterable<string>} accounts
   * @param {{ type?: number }} options `type`: 1 is presence; 100 to 65535 are the app's own
   */
  watch(accounts, { type = PRESENCE } = {}) {
    const names = typeof accounts === "string" ? [accounts] : accounts;
    return new Watch(this.#topics, this.#wake, type, names);
  }

  /**
   * Sets the status of the account. It waits for a session if there is none; the last call for a
   * type wins.
   * @param {number} value 10000 to 2147483647
   * @param {StatusOptions} options
   * @returns {Promise<void>} when the service has confirmed it
   */
  async setStatus(value, { type = PRESENCE, text, seconds, durable, whileOnline } = {}) {
    const params = {
      type, value, ext: text, onlineOnly: durable ? false : undefined,
      ...whileOnline && { expiry: HELD_SECONDS },
    };
    const written = this.#statuses.write("publish", params, whileOnline ? undefined : seconds);
    await Promise.all([written, whileOnline && this.#ask("hold", "hold", params, written)]);
  }

  /**
   * Clears the status of the account.
   * @param {{ type?: number }} options
   * @returns {Promise<void>} when the service has confirmed it
   */
  clearStatus({ type = PRESENCE } = {}) {
    return this.#statuses.write("clear", { type });
  }

  /**
   * Sets how this device presents itself; what is omitted gets its default. It ends with the
   * session, and is set again in the next one. The last call wins.
   * @param {Availability} availability
   * @returns {Promise<void>} when the service has confirmed it
   */
  async setAvailability({ show, text, priority } = {}) {
    const availability = this.#availability = { show, text, priority };
    const written = this.#present();
    written.then(() => (this.#confirmed = availability), () => {
      // A later call stays. The session may have begun after the one that was confirmed.
      if (this.#availability !== availability) return;
      this.#availability = this.#confirmed;
      this.#present();
    });
    return written;
  }

  /**
   * Sets which subscribers see the account. It belongs to the account, and stays until it is changed.
   * @param {Visibility | "default"} visibility `open`: all; `approved`: accounts whose request it has
   *   accepted; `hidden`: none; `default`: as the service says
   * @returns {Promise<Visibility>} the one in force, when it is on disk
   */
  setVisibility(visibility) {
    return this.#ask("messages", "visibility", visibility);
  }

  /**
   * Sends a message to accounts. It waits for a session if there is none, and is repeated with the
   * same `ref` until it is confirmed or rejected. Messages are sent in the order of the calls.
   * @param {string | Iterable<string>} accounts
   * @param {string | undefined} body
   * @param {MessageOptions} [options]
   * @returns {Promise<import("./outgoing.js").Sent>} when the service has it on disk
   */
  send(accounts, body, options) {
    return this.#ask("messages", "message", accounts, body, options);
  }

  /**
   * Sets what the service knows of this device: what is given replaces what it knew, and `""` or
   * `[]` removes. It waits for a session if there is none.
   * @param {Labels} labels
   * @returns {Promise<import("./outgoing.js").DeviceLabels>} all of it, when it is on disk
   */
  setDevice(labels) {
    return this.#ask("messages", "device", labels);
  }

  /**
   * Has the service push the messages to this browser that no device has taken in time. Call it
   * when the user has clicked: browsers then ask whether notifications are allowed. The page needs
   * a service worker that shows them, and the service its `push-key`.
   * @returns {Promise<void>} when the service knows the push address
   */
  enablePush() {
    return this.#ask("push", "enable");
  }

  /**
   * Ends push messages to this browser, as before a logout.
   * @returns {Promise<void>} when the service has forgotten the push address
   */
  disablePush() {
    return this.#ask("push", "disable");
  }

  /**
   * The messages for the account, each once, for `for await`. It ends with the client, or when
   * another loop begins. A message is taken, and not sent to this account again, when the loop asks
   * for the next one. It needs the option `messages`.
   * @param {LoopOptions} [options]
   * @returns {AsyncGenerator<import("./incoming.js").Message, void, void>}
   */
  async *messages(options) {
    yield* await this.#ask("messages", "received", options);
  }

  /**
   * The contacts of the account: a live map. It needs the option `contacts`.
   * @returns {Promise<import("./contacts.js").Contacts>}
   */
  contacts() {
    return this.#ask("contacts", "list");
  }

  /**
   * Ends the session, permanently.
   * @param {{ logout?: boolean }} options `logout`: subscribers see it immediately (default);
   *   `false`: they see a lost connection, after the grace of the service
   */
  close({ logout = true } = {}) {
    this.#end(logout);
  }

  /**
   * Connects now instead of at `nextAttempt`, unless the service has asked to wait; while
   * connected, finds out soon whether the connection lives.
   */
  reconnect() {
    this.#hurry();
  }

  /** Presents this device as the app has said. */
  #present() {
    const written = this.#statuses.write(
      "setAvailability", this.#adjust(/** @type {Availability} */ (this.#availability)));
    written.catch(() => {}); // It is the app's to look at it.
    return written;
  }

  /**
   * A part that is loaded when it is needed.
   * @param {keyof import("./connection.js").Parts} name
   * @returns {Promise<any>}
   */
  #part(name) {
    return this.#loading[name] ??= this.#environment.parts[name]().then(({ begin }) => {
      const part = begin({
        porchlight: this,
        environment: this.#environment,
        statuses: this.#statuses,
        subscriber: this.#subscriber,
        request: this.#request,
        PorchlightError,
        wake: this.#wake,
        pushKey: () => this.#pushKey,
        adjust: (adjust) => {
          this.#adjust = adjust;
          this.#availability ??= {};
          if (this.#condition === "connected") this.#present();
        },
      }, this.#options);
      this.#parts.add(part);
      if (this.#condition === "closed") part.stop?.(this.#error ?? closed());
      return part;
    }, (error) => {
      this.#loading[name] = undefined;
      throw lost(error);
    });
  }

  /**
   * Calls a method of a part.
   * @param {keyof import("./connection.js").Parts} part
   * @param {string} method
   * @param {any[]} options
   */
  async #ask(part, method, ...options) {
    return (await this.#part(part))[method](...options);
  }

  #connect() {
    this.#cancelRetry();
    this.#set("connecting", this.#error);
    /** @type {Connection} */
    const connection = new Connection(
      this.#environment,
      (error) => { if (this.#connection === connection) this.#lost(error); },
      (method, params) => { if (this.#connection === connection) this.#notified(method, params); });
    this.#connection = connection;
    this.#open(connection).catch((error) => {
      if (this.#connection === connection) {
        this.#finish(new PorchlightError(error.message, "transport"));
      }
    });
  }

  /** @param {Connection} connection */
  async #open(connection) {
    /** @type {string | undefined} */ let token;
    try {
      token = await this.#token();
    } catch (/** @type {any} */ error) {
      return this.#isSignedOut(error) || connection.end(
        new PorchlightError(`No token: ${error?.message}`, "token", undefined, {}, error));
    }
    try {
      await Promise.all(OPTIONAL.map((name) => this.#options[name] && this.#part(name)));
    } catch (/** @type {any} */ error) {
      return connection.end(error);
    }
    if (this.#connection !== connection) return;
    const account = this.#options.account ?? subject(token);
    if (this.#isOther(account)) return;
    const device = await this.#deviceFor(account);
    connection.open(this.#url, () => this.#login(connection, device, account, token));
  }

  /** Without delay for its caller, also if it throws. */
  async #token() {
    const { token } = this.#options;
    if (typeof token !== "function") return token;
    const made = await token();
    if (!/^"[\w.-]{1,15000}"$/.test(JSON.stringify(made))) {
      throw new TypeError("token() did not return a JWT.");
    }
    return made;
  }

  /**
   * Whether `token()` has said that there will be none: then this client ends.
   * @param {any} error
   */
  #isSignedOut(error) {
    if (error?.reason !== SIGNED_OUT) return false;
    this.#end(true, error);
    return true;
  }

  /**
   * The name of this device, which is not the same for each account.
   * @param {string} [account]
   */
  #deviceFor(account = "") {
    const { device } = this.#options;
    if (device) return device;
    if (this.#deviceOf !== account) {
      this.#release();
      this.#deviceOf = account;
      this.#device = this.#environment.device(account);
    }
    return this.#device?.then(({ name }) => name);
  }

  #release() {
    this.#device?.then(({ release }) => release());
  }

  /**
   * Whether this is not the account of the first login. Then this client ends: what is pending, and
   * what the page shows, is of the other one.
   * @param {string} [account]
   */
  #isOther(account) {
    if (!account || account === (this.#account ?? account)) return false;
    this.#end(true, new PorchlightError(
      `The token is of ${account}, not of ${this.#account}.`, "other_account"));
    return true;
  }

  /**
   * @param {boolean} logout
   * @param {PorchlightError} [error]
   */
  #end(logout, error) {
    const connection = this.#connection;
    const isLogout = logout && this.#since < Infinity;
    for (const part of this.#parts) part.leave?.(isLogout);
    this.#connection = undefined;
    this.#finish(error);
    if (isLogout) connection?.leave();
    else connection?.end(lost());
  }

  /**
   * @param {Connection} connection
   * @param {string} [device]
   * @param {string} [own] the account, if it is known
   * @param {string} [token]
   */
  #login(connection, device, own, token) {
    const {
      account, pushReachable, messages, contacts, client = this.#environment.client,
    } = this.#options;
    const isFunction = typeof this.#options.token === "function";
    const wanted = this.#topics.count(this.#environment.now());
    // One list corrects everything, unless most of it is for other devices.
    this.#isListing = !!wanted && wanted * LIST_SHARE >= this.#subscriber.count;
    if (!this.#isListing) this.#topics.refresh();
    const sync = this.#isListing || contacts ? "all" : "none";
    const params = { token, account, device, client, pushReachable, messages, contacts, sync };
    connection.request("login", params, (result) => {
      const { heartbeat, restartGraceSeconds, limits, subscriptions, expires, time } = result;
      this.#pushKey = result.pushKey;
      const now = this.#since = this.#environment.now();
      if (this.#isOther(result.account)) return;
      this.#account ??= result.account ?? own;
      this.#watchMe();
      this.#waitSecondsMax = Math.min(
        WAIT_SECONDS_MAX, Math.max(1, restartGraceSeconds / 2 || WAIT_SECONDS_MAX));
      this.#subscriber.count = subscriptions;
      this.#subscriber.publishersMax = limits.publishersPerRequestMax;
      connection.keep(heartbeat, limits.frameBytesMax);
      if (isFunction && expires) this.#plan(connection, expires + now - time, time - now);
      this.#set("connected");
      if (this.#availability) this.#present();
      this.#pump();
    }, (error) => {
      const { code = 0 } = error;
      // The next attempt would be the same: a defect, or credentials that do not change.
      if (code < 0 || code === 403 || code === 414 || (code === 401 && !isFunction)) {
        this.#finish(error);
      } else {
        connection.end(error);
      }
    });
  }

  #watchMe() {
    if (this.#me || !this.#isMeWanted || !this.#account) return;
    this.#me = this.#topics.want(PRESENCE, this.#account, (presence) => {
      this.#me = presence;
      this.#changed();
    });
    this.#wake();
  }

  /** @param {PorchlightError} error */
  #lost(error) {
    const { code, reason, data: { retryAfter = 0 } } = error;
    const now = this.#environment.now();
    const isAttempt = this.#since === Infinity;
    this.#connection = undefined;
    this.#stop();
    if (FINAL.includes(/** @type {number} */ (code))) return this.#finish(error);
    if (now - this.#since >= LASTING) this.#losses = 0;
    this.#since = Infinity;
    const isImmediate = !this.#losses
      && (code === TOKEN_EXPIRED || ["expired_token", "asleep"].includes(reason));
    const delay = backoff(this.#environment, this.#losses, this.#waitSecondsMax);
    this.#losses += 1;
    this.#notBefore = now + retryAfter * 1_000;
    this.#nextAttempt = this.#notBefore + (isImmediate ? 0 : delay);
    if (isAttempt) this.#tell(error);
    this.#set("waiting", error);
    this.#cancelRetry = this.#environment.after(this.#nextAttempt - now, () => this.#connect());
  }

  /** Nothing is current, and no request will be answered. */
  #stop() {
    this.#cancelRetry();
    this.#cancelRenewal();
    this.#cancelRefresh();
    this.#topics.lose();
    this.#statuses.lose();
    for (const part of this.#parts) part.lose?.();
    this.#isListing = false;
  }

  /**
   * Tells the developer once of each reason why nothing may ever happen.
   * @param {PorchlightError} error
   */
  #tell({ reason, message }) {
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    this.#environment.warn?.(`Porchlight: ${message}${advice(reason, this.#url)}`);
  }

  /** @param {PorchlightError} [error] */
  #finish(error) {
    if (this.#condition === "closed") return;
    const connection = this.#connection;
    const cause = error ?? closed();
    this.#connection = undefined;
    connection?.end(lost());
    this.#stop();
    this.#stopListening();
    for (const part of this.#parts) part.stop?.(cause);
    this.#statuses.end(cause);
    this.#set("closed", error);
    if (error) this.#environment.warn?.("Porchlight is closed: " + error.message);
    this.#release();
    this.#topics.end();
  }

  /**
   * The page is visible or the network is back: there may be news.
   * @param {boolean} [wasHidden]
   */
  #hurry(wasHidden) {
    if (this.#condition !== "waiting") this.#connection?.probe(wasHidden);
    else if (this.#environment.now() >= this.#notBefore) this.#connect();
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  #notified(method, params) {
    for (const part of this.#parts) part.notified?.(method, params);
    if (method === "events") {
      for (const event of params.events) this.#topics.apply(event);
    } else if (method === "expired") {
      this.#subscriber.ended(params);
    } else if (method === "synced" && this.#isListing) {
      this.#isListing = false;
      this.#topics.refresh();
      this.#wake();
    }
  }

  /** Sends what is due at the end of this turn, so that it is gathered. */
  #wake = () => {
    if (this.#isWoken) return;
    this.#isWoken = true;
    queueMicrotask(() => this.#pump());
  };

  #pump() {
    this.#isWoken = false;
    const now = this.#environment.now();
    this.#topics.forget(now);
    if (this.#condition !== "connected") return;
    this.#subscriber.subscribe(now);
    this.#statuses.send();
    for (const part of this.#parts) part.send?.();
    const { error } = this.#topics;
    if (error) {
      this.#tell(error);
      this.#topics.look();
    }
    this.#set("connected", error);
    this.#cancelRenewal();
    const wait = this.#topics.nextDue() - now;
    if (wait < Infinity) this.#cancelRenewal = this.#environment.after(wait, () => this.#pump());
  }

  /**
   * Refreshes the token a minute before it expires.
   * @param {Connection} connection
   * @param {number} expires by our clock
   * @param {number} ahead the time of the service minus ours
   */
  #plan(connection, expires, ahead) {
    const rest = expires - this.#environment.now();
    const wait = Math.max(rest - REFRESH, rest / 2, REFRESH_MIN);
    const isCurrent = () => this.#connection === connection;
    const again = () => { if (isCurrent()) this.#plan(connection, expires, ahead); };
    this.#cancelRefresh = this.#environment.after(wait, () => {
      this.#token().then((token) => {
        if (!isCurrent() || this.#isOther(subject(token))) return;
        connection.request("refresh", { token },
          (result) => this.#plan(connection, result.expires - ahead, ahead), again);
      }).catch((error) => this.#isSignedOut(error) || again());
    });
  }

  /**
   * @param {Condition} condition
   * @param {PorchlightError} [error]
   */
  #set(condition, error) {
    if (condition === this.#condition && error === this.#error) return;
    this.#condition = condition;
    this.#error = error;
    this.#changed();
  }

  #changed() {
    if (this.#isChanged) return;
    this.#isChanged = true;
    queueMicrotask(() => {
      this.#isChanged = false;
      this.dispatchEvent(new Event("change"));
    });
  }
}
