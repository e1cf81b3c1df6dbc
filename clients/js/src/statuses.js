// @ts-check
import { remaining } from "./environment.js";
import { PorchlightError, expired, isTransient } from "./error.js";

/** @typedef {import("./connection.js").Environment} Environment */
/** @typedef {import("./subscriber.js").Asking} Asking */
/** @typedef {import("./subscriber.js").Subscriber} Subscriber */

/**
 * What a status shall be, and the promises of all calls that asked for it or for what it replaced.
 * @typedef {object} Write
 * @property {"publish" | "clear" | "setAvailability"} method
 * @property {{ type?: number, [name: string]: unknown }} params an availability has no type
 * @property {number} [seconds] how long it is to last, from the call on
 * @property {number} until when that ends
 * @property {() => void} [cancel] how to not repeat it
 * @property {Array<[() => void, (error: PorchlightError) => void]>} calls
 */

/**
 * @param {Write | undefined} older
 * @param {Write} newer
 * @returns {Write}
 */
const replace = (older, newer) => ({ ...newer, calls: [...(older?.calls ?? []), ...newer.calls] });

/**
 * The writes of statuses that are not answered: for each type at most one that was sent and one
 * that waits, because the last one wins.
 */
export class Statuses {
  #environment;
  #subscriber;
  #request;
  #wake;
  /** @type {Map<number | undefined, Write>} */ #waiting = new Map();
  /** @type {Map<number | undefined, Write>} */ #sent = new Map();
  /** The parameters of the last write of each type that the service has confirmed. */
  /** @type {Map<number | undefined, Write["params"]>} */ #confirmed = new Map();
  /**
   * The same, for what holds a status.
   * @type {[Map<unknown, Write>, Map<unknown, Write>, Map<unknown, Write["params"]>]}
   */
  maps = [this.#waiting, this.#sent, this.#confirmed];
  /** Why nothing is sent any more. */
  /** @type {PorchlightError | undefined} */ #error;

  /**
   * @param {Environment} environment
   * @param {Subscriber} subscriber knows how long to wait after an error
   * @param {Asking} request
   * @param {() => void} wake calls `send` soon
   */
  constructor(environment, subscriber, request, wake) {
    this.#environment = environment;
    this.#subscriber = subscriber;
    this.#request = request;
    this.#wake = wake;
  }

  /**
   * Sends a write when there is a session.
   * @param {Write["method"]} method
   * @param {Write["params"]} params
   * @param {number} [seconds] how long the status is to last
   * @returns {Promise<void>} when the service has confirmed it
   */
  write(method, params, seconds) {
    return new Promise((resolve, reject) => {
      if (this.#error) return reject(this.#error);
      const until = this.#environment.now() + /** @type {number} */ (seconds) * 1_000;
      const older = this.#waiting.get(params.type);
      this.#waiting.set(params.type, replace(older, {
        method, params, seconds, until, calls: [[resolve, reject]],
      }));
      this.#wake();
    });
  }

  /** Sends what waits, except for types with a write that is not answered yet. */
  send() {
    for (const [type, write] of this.#waiting) {
      if (this.#sent.has(type)) continue;
      this.#waiting.delete(type);
      this.#sent.set(type, write);
      this.#send(write);
    }
  }

  /** The connection was lost: the outcome of what was sent is unknown. */
  lose() {
    for (const write of this.#sent.values()) this.#again(write);
  }

  /** @param {PorchlightError} error */
  end(error) {
    this.#error = error;
    this.lose();
    for (const write of this.#waiting.values()) this.#settle(write, error);
  }

  /** @param {Write} write */
  #send(write) {
    const { method, params, until, seconds } = write;
    const expiry = remaining(this.#environment, until, seconds);
    if (expiry === 0) return this.#settle(write, expired());
    this.#request(method, { expiry, ...params }, () => {
      this.#subscriber.failures = 0;
      this.#confirmed.set(params.type, params);
      this.#settle(write);
      this.#wake();
    }, (error) => {
      if (!isTransient(error)) {
        this.#settle(write, error);
        return this.#wake();
      }
      write.cancel = this.#environment.after(this.#subscriber.pause(error.data), () => {
        this.#again(write);
        this.#wake();
      });
    });
  }

  /**
   * @param {Write} write
   * @param {PorchlightError} [error]
   */
  #settle(write, error) {
    this.#sent.delete(write.params.type);
    for (const [resolve, reject] of write.calls) {
      if (error) reject(error);
      else resolve();
    }
  }

  /**
   * What was sent waits again, unless something newer does.
   * @param {Write} write
   */
  #again(write) {
    const { type } = write.params;
    write.cancel?.();
    if (this.#sent.get(type) !== write) return;
    const newer = this.#waiting.get(type);
    this.#sent.delete(type);
    this.#waiting.set(type, newer ? replace(write, newer) : write);
  }
}
