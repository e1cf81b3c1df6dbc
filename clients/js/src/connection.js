// @ts-check
import { PorchlightError } from "./error.js";

/** A timer that is late by more milliseconds than this proves nothing about the connection. */
const LATE = 2_000;
/** The time for getting a token, connecting and logging in, in milliseconds. */
const ATTEMPT = 30_000;

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
 * What the SDK needs of the outside. Tests have a clock and a service of their own.
 * @typedef {object} Environment
 * @property {() => number} now in milliseconds
 * @property {(milliseconds: number, action: () => void) => () => void} after returns how to cancel
 * @property {() => number} random from 0 up to 1
 * @property {(url: string, events: WireEvents) => Wire} open
 * @property {() => Promise<{ name: string, release: () => void }>} device
 * @property {(online: () => void, offline: () => void) => () => void} listen returns how to stop
 * @property {string} client
 * @property {(text: string) => void} [warn] tells the developer
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

  /** Sends a keep-alive now, unless one is unanswered. */
  probe() {
    if (!this.#isProbing && this.#half) this.#probe();
  }

  /** @param {PorchlightError} error */
  end(error) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancel();
    this.#wire?.close();
    this.#ended(error);
  }

  #probe() {
    this.#isProbing = true;
    this.#wire?.send("");
    this.#beat();
  }

  #beat() {
    const due = this.#environment.now() + this.#half;
    this.#cancel();
    this.#cancel = this.#environment.after(this.#half, () => {
      // After a late timer, answers may wait behind it: ask again.
      if (this.#isProbing && this.#environment.now() - due < LATE) this.end(lost());
      else this.#probe();
    });
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
