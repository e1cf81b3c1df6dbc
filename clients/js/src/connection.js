// @ts-check
import { PorchlightError } from "./error.js";

/** A timer that is late by more milliseconds than this proves nothing about the connection. */
const LATE = 2_000;
/** The time for an answer where the connection is in doubt, in milliseconds. */
const PROBE = 3_000;
/** A timer that is late by more half heartbeats than this: the service has ended the session. */
const ASLEEP = 3;
/** The time for getting a token, connecting and logging in, in milliseconds. */
const ATTEMPT = 30_000;
/** The longest wait for the response to a logout, in milliseconds. */
const LOGOUT = 5_000;

/**
 * @param {{ message?: string, code?: string }} [cause]
 * @returns {PorchlightError}
 */
export const lost = (cause) => new PorchlightError(
  cause ? `No connection: ${cause.message || cause.code}` : "No connection.",
  "lost", undefined, {}, cause);

/**
 * What carries messages. An empty message is a keep-alive.
 * @typedef {object} Wire
 * @property {(message: string) => void} send
 * @property {() => void} close ends it; what is reported afterwards is ignored
 */

/**
 * What a wire reports.
 * @typedef {object} WireEvents
 * @property {() => void} opened
 * @property {(message: string) => void} received
 * @property {(code?: number, reason?: string, cause?: Error) => void} closed
 */

/**
 * What is loaded only when it is needed. In Node it is there.
 * @typedef {object} Parts
 * @property {() => Promise<PartModule>} away
 * @property {() => Promise<PartModule>} contacts
 * @property {() => Promise<PartModule>} debug
 * @property {() => Promise<PartModule>} hold
 * @property {() => Promise<PartModule>} messages
 * @property {() => Promise<PartModule>} push
 */

/** @typedef {import("./porchlight.js").Options} Options */
/** @typedef {{ begin: (hooks: Hooks, options: Options) => Part }} PartModule */

/**
 * What such a part may use.
 * @typedef {object} Hooks
 * @property {import("./porchlight.js").Porchlight} porchlight
 * @property {Environment} environment
 * @property {import("./statuses.js").Statuses} statuses
 * @property {import("./subscriber.js").Subscriber} subscriber knows how long to wait after an error
 * @property {import("./subscriber.js").Asking} request
 * @property {typeof PorchlightError} PorchlightError the class that the app knows
 * @property {() => string | undefined} pushKey that of the service, if there is a session
 * @property {() => void} wake calls `send` soon
 * @property {(adjust: (availability: import("./porchlight.js").Availability) =>
 *   import("./porchlight.js").Availability) => void} adjust how this device is shown, from now on
 */

/**
 * What it is told.
 * @typedef {object} Part
 * @property {(error: PorchlightError) => void} [stop] there will be no further session
 * @property {(isLogout: boolean) => void} [leave] before that, while there is a connection
 * @property {() => void} [send] there is a session, and something has changed
 * @property {() => void} [lose] the connection was lost
 * @property {(method: string, params: any) => void} [notified] by the service
 */

/**
 * What the SDK needs of the outside. Tests have a clock and a service of their own.
 * @typedef {object} Environment
 * @property {() => number} now in milliseconds
 * @property {(milliseconds: number, action: () => void) => () => void} after returns how to cancel
 * @property {() => number} random from 0 up to 1
 * @property {(url: string, events: WireEvents) => Wire} open
 * @property {(account?: string) => Promise<{ name: string, release: () => void }>} device
 * @property {(back: (wasHidden?: boolean) => void, offline: () => void) => () => void} listen
 *   `back`: the network is back, or the page is not hidden any more; returns how to stop
 * @property {string} client
 * @property {Parts} parts
 * @property {(text: string) => void} [warn] tells the developer
 * @property {() => boolean} [isHidden] timers run late, and prove nothing
 */

/**
 * One connection: requests and responses, keep-alives, and why it ended. Requests that are
 * unanswered when it ends are forgotten; their outcome is unknown.
 */
export class Connection {
  #environment;
  #ended;
  #notified;
  /** @type {Wire | undefined} */ #wire;
  /** @type {Map<number, [(result: any) => void, (error: PorchlightError) => void]>} */
  #pending = new Map();
  #id = 0;
  #isOver = false;
  /** Something was sent since the last message was received. */
  #isProbing = false;
  #bytesMax = 16_384;
  #half = 0;
  /** When the timer for keep-alives is due. */
  #due = 0;
  #cancel = () => {};

  /**
   * @param {Environment} environment
   * @param {(error: PorchlightError) => void} ended
   * @param {(method: string, params: any) => void} notified
   */
  constructor(environment, ended, notified) {
    this.#environment = environment;
    this.#ended = ended;
    this.#notified = notified;
    this.limit(ATTEMPT);
  }

  /**
   * Ends it after some time, without further keep-alives.
   * @param {number} milliseconds
   */
  limit(milliseconds) {
    this.#cancel();
    this.#cancel = this.#environment.after(milliseconds, () =>
      this.end(new PorchlightError("No answer in time.", "timeout")));
  }

  /**
   * @param {string} url
   * @param {() => void} opened
   */
  open(url, opened) {
    if (this.#isOver) return;
    this.#wire = this.#environment.open(url, {
      opened: () => {
        if (!this.#isOver) opened();
      },
      received: (message) => this.#receive(message),
      closed: (code = 0, reason = "", cause) => this.end(
        code < 4400 ? lost(cause) : new PorchlightError(`Closed: ${reason}.`, reason, code)),
    });
  }

  /**
   * @param {string} method
   * @param {object} params
   * @param {(result: any) => void} done
   * @param {(error: PorchlightError) => void} failed
   */
  request(method, params, done, failed) {
    let message = "";
    try {
      message = JSON.stringify({ jsonrpc: "2.0", id: ++this.#id, method, params });
    } catch {
      // A BigInt, or an object that contains itself.
    }
    // The service cannot read half a surrogate pair, and closes the connection if it is too long.
    const reason = !message || /[^\\](\\\\)*\\ud/.test(message)
      ? "invalid_text"
      : new Blob([message]).size > this.#bytesMax && "too_long";
    if (reason) {
      return failed(new PorchlightError(`Cannot send ${method}: ${reason}.`, reason, 414));
    }
    this.#pending.set(this.#id, [done, failed]);
    this.#wire?.send(message);
  }

  /**
   * The session has begun: send keep-alives from now on.
   * @param {number} heartbeat in seconds
   * @param {number} bytesMax in the body of a request
   */
  keep(heartbeat, bytesMax) {
    this.#half = heartbeat * 500;
    this.#bytesMax = bytesMax;
    this.#beat();
  }

  /**
   * Finds out soon whether the connection lives.
   * @param {boolean} wasHidden timers were late without the device being asleep
   */
  probe(wasHidden = false) {
    if (!this.#half || (!wasHidden && this.#wasAsleep())) return;
    if (!this.#isProbing || this.#due > this.#environment.now() + PROBE) this.#probe(PROBE);
  }

  /** Logs out, and ends when that is answered. What was requested before is forgotten. */
  leave() {
    const end = () => this.end(lost());
    this.#pending.clear();
    this.limit(LOGOUT);
    this.request("logout", {}, end, end);
  }

  /** @param {PorchlightError} error */
  end(error) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pending.clear();
    this.#cancel();
    this.#wire?.close();
    this.#ended(error);
  }

  /** @param {number} [wait] for the answer */
  #probe(wait) {
    this.#isProbing = true;
    this.#wire?.send("");
    this.#beat(wait);
  }

  #beat(wait = this.#half) {
    this.#due = this.#environment.now() + wait;
    this.#cancel();
    this.#cancel = this.#environment.after(wait, () => {
      if (this.#wasAsleep()) return;
      // After a late timer, answers may wait behind it: ask again.
      if (this.#environment.now() - this.#due >= LATE) this.#probe(PROBE);
      else if (this.#isProbing) this.end(lost());
      else this.#probe();
    });
  }

  /** Ends the connection if no timer has run for so long that the service has ended it. */
  #wasAsleep() {
    const late = this.#environment.now() - this.#due;
    if (late <= ASLEEP * this.#half || this.#environment.isHidden?.()) return false;
    this.end(new PorchlightError("The device was asleep.", "asleep"));
    return true;
  }

  /** @param {string} message */
  #receive(message) {
    if (this.#isOver) return;
    this.#isProbing = false;
    if (!message) return;
    try {
      const { id, method, params = {}, result, error } = JSON.parse(message);
      const [done, failed] = this.#pending.get(id) ?? [];
      this.#pending.delete(id);
      if (method === "close") {
        this.end(new PorchlightError(params.message, params.reason, params.code, params));
      } else if (method) {
        this.#notified(method, params);
      } else if (id == null) {
        this.end(lost(error)); // Some request could not be read.
      } else if (error) {
        failed?.(new PorchlightError(error.message, error.data?.reason, error.code, error.data));
      } else {
        done?.(result);
      }
    } catch (error) {
      // This is not the protocol.
      this.end(lost(/** @type {Error} */ (error)));
    }
  }
}
