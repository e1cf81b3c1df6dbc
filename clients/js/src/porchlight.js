// @ts-check
import { Connection, lost } from "./connection.js";
import { PorchlightError } from "./error.js";
import { Statuses } from "./statuses.js";
import { PRESENCE, Topics } from "./topics.js";
import { Watch } from "./watch.js";

/**
 * @typedef {object} Options
 * @property {string | (() => string | Promise<string>)} [token] a signed token of the account, or
 *   how to get a new one; it is called for each login, and before the token expires
 * @property {string} [account] the account, for a service with `--auth open`
 * @property {string} [device] the name of this device, which should stay the same for as long as
 *   the app is installed; in a browser each tab gets one by itself
 * @property {string} [client] the kind of client: `web`, `ios`, `linux` ...
 * @property {boolean} [pushReachable] the device receives push messages while not connected
 * @property {number} [leaseSeconds] how long subscriptions last if they are not renewed
 * @property {TLSOptions} [tls] for `porchlights://` in Node, Deno and Bun
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
 */

/**
 * `connecting`: for the first time or again; `connected`: logged in; `waiting`: until the next
 * attempt; `closed`: there will be none.
 * @typedef {"connecting" | "connected" | "waiting" | "closed"} Condition
 */

/** @typedef {import("./connection.js").Environment} Environment */
/** @typedef {import("./statuses.js").Write} Write */
/** @typedef {import("./topics.js").Topic} Topic */

/** After these the client must not reconnect by itself: protocol_violation, replaced, kicked. */
const FINAL = [4400, 4409, 4410];
const TOKEN_EXPIRED = 4402;
/** A session that lasts for this time ends a series of losses. In milliseconds. */
const LASTING = 30_000;
const BACKOFF_SECONDS_MAX = 60;
/** A token is refreshed this time before it expires, in milliseconds. */
const REFRESH = 60_000;
/** The shortest time between two attempts to refresh a token, in milliseconds. */
const REFRESH_MIN = 5_000;
/** The longest wait for the response to a logout, in milliseconds. */
const LOGOUT = 5_000;
/** The shortest wait before a request above a quota is repeated, in milliseconds. */
const QUOTA = 60_000;
/** A time after the end of each session, but not Infinity: no request is unanswered. */
const NEVER = 1e15;
const STATUS_SECONDS_MIN = 60;
/** A lease is renewed when 0.4 to 0.5 of it has passed. */
const RENEWAL = 0.4;
const RENEWAL_SPREAD = 0.1;
/** Renewals that fall into the same fortieth of a lease are sent together. */
const RENEWALS_PER_LEASE = 40;
/** The states of all subscriptions are requested if at least a quarter of them is wanted here. */
const LIST_SHARE = 4;

/** @param {Topic[]} topics of one type */
const parameters = (topics) => ({
  type: topics[0].presence.type,
  publishers: topics.map(({ presence }) => presence.account),
});

/** @typedef {import("./watch.js").Changing<Event>} Changing */
const Target = /** @type {new () => Changing} */ (/** @type {unknown} */ (EventTarget));

/** A session that lasts: it reconnects, and keeps what is watched current. */
export class Porchlight extends Target {
  #environment;
  #url;
  #options;
  #lease;
  /** @type {Condition} */ #condition = "connecting";
  /** @type {PorchlightError | undefined} */ #error;
  #isChanged = false;
  #isWoken = false;
  /** @type {Connection | undefined} */ #connection;
  /** @type {Promise<{ name: string, release: () => void }> | undefined} */ #device;
  #topics = new Topics();
  #statuses = new Statuses();
  /** The states of all subscriptions are being received. */
  #isListing = false;
  /** Subscriptions of the account, as far as known. */
  #count = 0;
  #publishersMax = 0;
  /** Sessions that did not last, one after the other. */
  #losses = 0;
  /** Rounds of requests that the service had no room for, one after the other. */
  #failures = 0;
  /** When requests that failed in this round are repeated, at the earliest. */
  #nextRound = 0;
  /** When the session began; Infinity without one. */
  #since = Infinity;
  /** When the service allows the next attempt. */
  #notBefore = 0;
  /** When the first slot for renewals began: not the same for all clients. */
  #origin;
  #stopListening;
  #cancelRetry = () => {};
  #cancelRenewal = () => {};
  #cancelRefresh = () => {};

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
    this.#lease = (options.leaseSeconds ?? 3_600) * 1_000;
    this.#origin = environment.now() - this.#lease * environment.random();
    this.#stopListening = environment.listen(
      () => this.#hurry(),
      () => this.#connection?.end(lost()));
    this.#connect();
  }

  /** Whether there is a session. A `change` event follows each change of it or of `error`. */
  get condition() {
    return this.#condition;
  }

  /**
   * Why there is no session; while there is one, why the last request was rejected, until all that
   * is watched is subscribed to. Outside browsers its `cause` is the error of the runtime, such as
   * ECONNREFUSED.
   */
  get error() {
    return this.#error;
  }

  /**
   * A live map from accounts to what is known of them.
   * @param {string | Iterable<string>} accounts
   * @param {{ type?: number }} options `type`: 1 is presence; 100 to 65535 are the app's own
   */
  watch(accounts, { type = PRESENCE } = {}) {
    const names = typeof accounts === "string" ? [accounts] : accounts;
    return new Watch(this.#topics, () => this.#wake(), type, names);
  }

  /**
   * Sets the status of the account. It waits for a session if there is none; the last call for a
   * type wins.
   * @param {number} value 10000 to 2147483647
   * @param {StatusOptions} options
   * @returns {Promise<void>} when the service has confirmed it
   */
  async setStatus(value, { type = PRESENCE, text, seconds, durable } = {}) {
    return this.#write({
      method: "publish",
      params: { type, value, ext: text, onlineOnly: durable ? false : undefined },
      until: this.#environment.now() + /** @type {number} */ (seconds) * 1_000,
      seconds,
    });
  }

  /**
   * Clears the status of the account.
   * @param {{ type?: number }} options
   * @returns {Promise<void>} when the service has confirmed it
   */
  clearStatus({ type = PRESENCE } = {}) {
    return this.#write({ method: "clear", params: { type } });
  }

  /**
   * Ends the session, permanently.
   * @param {{ logout?: boolean }} options `logout`: subscribers see it immediately (default);
   *   `false`: they see a lost connection, after the grace of the service
   */
  close({ logout = true } = {}) {
    const connection = this.#connection;
    const isLoggedIn = this.#since < Infinity;
    this.#connection = undefined;
    this.#finish();
    if (!connection) return;
    const end = () => connection.end(lost());
    if (!logout || !isLoggedIn) return end();
    connection.limit(LOGOUT);
    connection.request("logout", {}, end, end);
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
    this.#device ??= this.#options.device
      ? Promise.resolve({ name: this.#options.device, release: () => {} })
      : this.#environment.device();
    Promise.all([this.#device, this.#token()]).then(
      ([{ name }, token]) => connection.open(this.#url, () => this.#login(connection, name, token)),
      (error) => connection.end(
        new PorchlightError(`No token: ${error?.message}`, "token", undefined, {}, error)),
    ).catch((error) => this.#finish(new PorchlightError(error.message, "transport")));
  }

  /** Without delay for its caller, also if it throws. */
  async #token() {
    const { token } = this.#options;
    if (typeof token !== "function") return token;
    const made = await token();
    if (/^"[\w.-]{1,15000}"$/.test(JSON.stringify(made))) return made;
    throw new TypeError("token() did not return a JWT.");
  }

  /**
   * @param {Connection} connection
   * @param {string} device
   * @param {string | undefined} token
   */
  #login(connection, device, token) {
    const { account, pushReachable, client = this.#environment.client } = this.#options;
    const isFunction = typeof this.#options.token === "function";
    const wanted = this.#topics.count(this.#environment.now());
    // One list corrects everything, unless most of it is for other devices.
    this.#isListing = wanted > 0 && wanted * LIST_SHARE >= this.#count;
    if (!this.#isListing) this.#topics.refresh();
    const sync = this.#isListing ? "all" : "none";
    const params = { token, account, device, client, pushReachable, sync };
    connection.request("login", params, (result) => {
      const { heartbeat, limits, subscriptions, expires, time } = result;
      this.#since = this.#environment.now();
      this.#count = subscriptions;
      this.#publishersMax = limits.publishersPerRequestMax;
      connection.keep(heartbeat, limits.frameBytesMax);
      if (isFunction && expires) {
        this.#plan(connection, expires + this.#since - time, time - this.#since);
      }
      this.#set("connected");
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

  /** @param {PorchlightError} error */
  #lost(error) {
    const { code, reason, data: { retryAfter = 0 } } = error;
    const now = this.#environment.now();
    this.#connection = undefined;
    this.#stop();
    if (FINAL.includes(code ?? 0)) return this.#finish(error);
    if (now - this.#since >= LASTING) this.#losses = 0;
    this.#since = Infinity;
    const isImmediate = !this.#losses && (code === TOKEN_EXPIRED || reason === "expired_token");
    const wait = retryAfter * 1_000 + (isImmediate ? 0 : this.#backoff(this.#losses));
    this.#losses += 1;
    this.#notBefore = now + retryAfter * 1_000;
    this.#set("waiting", error);
    this.#cancelRetry = this.#environment.after(wait, () => this.#connect());
  }

  /** Nothing is current, and no request will be answered. */
  #stop() {
    this.#cancelRetry();
    this.#cancelRenewal();
    this.#cancelRefresh();
    this.#topics.lose();
    this.#statuses.lose();
    this.#isListing = false;
  }

  /** @param {PorchlightError} [error] */
  #finish(error) {
    if (this.#condition === "closed") return;
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.end(lost());
    this.#stop();
    this.#stopListening();
    this.#statuses.end(error ?? new PorchlightError("The client was closed.", "closed"));
    this.#set("closed", error);
    if (error) this.#environment.warn?.("Porchlight is closed: " + error.message);
    this.#device?.then(({ release }) => release());
    this.#topics.end();
  }

  /** The page is visible or the network is back: there may be news. */
  #hurry() {
    if (this.#condition !== "waiting") this.#connection?.probe();
    else if (this.#environment.now() >= this.#notBefore) this.#connect();
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  #notified(method, params) {
    if (method === "events") {
      for (const event of params.events) this.#topics.apply(event);
    } else if (method === "expired") {
      this.#topics.expire(params.type, params.publishers);
      this.#wake();
    } else if (method === "synced" && this.#isListing) {
      this.#isListing = false;
      this.#topics.refresh();
      this.#wake();
    }
  }

  /** Sends what is due at the end of this turn, so that it is gathered. */
  #wake() {
    if (this.#isWoken) return;
    this.#isWoken = true;
    queueMicrotask(() => this.#pump());
  }

  #pump() {
    this.#isWoken = false;
    const now = this.#environment.now();
    this.#topics.forget(now);
    if (this.#condition !== "connected") return;
    for (;;) {
      const topics = this.#topics.takeDue(now, this.#publishersMax);
      if (!topics.length) break;
      this.#subscribe(topics);
    }
    for (;;) {
      const write = this.#statuses.take();
      if (!write) break;
      this.#send(write);
    }
    this.#cancelRenewal();
    const wait = this.#topics.nextDue() - now;
    if (wait < Infinity) this.#cancelRenewal = this.#environment.after(wait, () => this.#pump());
  }

  /** @param {Topic[]} topics */
  #subscribe(topics) {
    const params = { ...parameters(topics), expiry: this.#lease / 1_000, sync: true };
    this.#connection?.request("subscribe", params, ({ count, states }) => {
      const now = this.#environment.now();
      const due = this.#renewal(now);
      this.#failures = 0;
      this.#count = count;
      for (const topic of topics) Object.assign(topic, { due, until: now + this.#lease });
      // All that is wanted is subscribed to.
      if (this.#topics.count(now) === this.#topics.count(-1)) this.#set("connected");
      for (const state of states) this.#topics.apply(state);
      this.#wake();
    }, (error) => this.#refused(topics, error));
  }

  /**
   * When to renew what was subscribed to now: at the same time as what was soon before or after.
   * @param {number} now
   */
  #renewal(now) {
    const slot = this.#lease / RENEWALS_PER_LEASE;
    const due = now + this.#lease * (RENEWAL + RENEWAL_SPREAD * this.#environment.random());
    return due - ((due - this.#origin) % slot);
  }

  /**
   * @param {Topic[]} topics
   * @param {PorchlightError} error
   */
  #refused(topics, error) {
    const { code, reason, data } = error;
    const now = this.#environment.now();
    const isFull = reason === "subscription_quota";
    if (isFull) {
      const idle = this.#topics.takeIdle(now, this.#publishersMax);
      if (idle.length) {
        const again = () => this.#retry(topics, 0);
        return this.#connection?.request("unsubscribe", parameters(idle), again, again);
      }
    }
    /** @type {Array<{ publisher: string }> | undefined} */ const failed = data.failed;
    let room = data.limit - data.count;
    // Renewals need no room.
    const fit = topics.filter(({ until, presence }) =>
      isFull ? until > now || room-- > 0 :
        failed && !failed.some(({ publisher }) => publisher === presence.account));
    const half = topics.length >> 1;
    if (half && (fit.length === topics.length ||
        (code === 414 && (data.field ?? "publishers") === "publishers"))) {
      // One name is invalid, or not subscribed to: find it, so that the others are not rejected
      // with it.
      this.#subscribe(topics.slice(0, half));
      return this.#subscribe(topics.slice(half));
    }
    this.#set(this.#condition, error);
    // It would be rejected again. A new session asks again.
    const wait = code === 414 ? NEVER
      : code === 419 ? QUOTA * (1 + this.#environment.random()) : this.#pause(data);
    this.#retry(topics, now + wait);
    if (half) this.#retry(fit, 0);
  }

  /**
   * @param {Topic[]} topics
   * @param {number} due
   */
  #retry(topics, due) {
    for (const topic of topics) topic.due = due;
    this.#wake();
  }

  /**
   * @param {Omit<Write, "calls">} write
   * @returns {Promise<void>}
   */
  #write(write) {
    return new Promise((resolve, reject) => {
      if (this.#condition === "closed") {
        return reject(this.#error ?? new PorchlightError("The client was closed.", "closed"));
      }
      this.#statuses.add({ ...write, calls: [[resolve, reject]] });
      this.#wake();
    });
  }

  /** @param {Write} write */
  #send(write) {
    const { method, params, until, seconds } = write;
    /** @type {number | undefined} */ let expiry;
    if (seconds !== undefined) {
      const rest = Math.ceil((/** @type {number} */ (until) - this.#environment.now()) / 1_000);
      // It has waited for longer than it was to last.
      if (rest <= 0) {
        return this.#statuses.settle(write, new PorchlightError("It has expired.", "expired"));
      }
      expiry = Math.max(rest, Math.min(STATUS_SECONDS_MIN, seconds));
    }
    this.#connection?.request(method, { ...params, expiry }, () => {
      this.#failures = 0;
      this.#statuses.settle(write);
      this.#wake();
    }, (error) => {
      if (error.code !== 416 && !(/** @type {number} */ (error.code) >= 500)) {
        this.#statuses.settle(write, error);
        return this.#wake();
      }
      write.cancel = this.#environment.after(this.#pause(error.data), () => {
        this.#statuses.again(write);
        this.#wake();
      });
    });
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
        if (!isCurrent()) return;
        connection.request("refresh", { token },
          (result) => this.#plan(connection, result.expires - ahead, ahead), again);
      }).catch(again);
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
    if (this.#isChanged) return;
    this.#isChanged = true;
    queueMicrotask(() => {
      this.#isChanged = false;
      this.dispatchEvent(new Event("change"));
    });
  }

  /** @param {number} count of failures */
  #backoff(count) {
    return this.#environment.random() * 1_000 * Math.min(BACKOFF_SECONDS_MAX, 2 ** count);
  }

  /**
   * How long to wait before a request is repeated.
   * @param {{ retryAfter?: number }} data
   */
  #pause({ retryAfter = 1 }) {
    const wait = retryAfter * 1_000;
    const now = this.#environment.now();
    if (!this.#failures || now >= this.#nextRound) {
      this.#failures += 1;
      this.#nextRound = now + wait;
    }
    return wait + this.#backoff(this.#failures - 1);
  }
}
