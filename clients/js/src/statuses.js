// @ts-check
import { PorchlightError } from "./error.js";

/**
 * What a status shall be, and the promises of all calls that asked for it or for what it replaced.
 * @typedef {object} Write
 * @property {"publish" | "clear"} method
 * @property {{ type: number, value?: number, ext?: string, onlineOnly?: boolean }} params
 * @property {number} [seconds] how long it is to last, from the call on
 * @property {number} [until] when that ends
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
  /** @type {Map<number, Write>} */ #waiting = new Map();
  /** @type {Map<number, Write>} */ #sent = new Map();

  /** @param {Write} write */
  add(write) {
    const { type } = write.params;
    this.#waiting.set(type, replace(this.#waiting.get(type), write));
  }

  /**
   * Takes a write that can be sent now.
   * @returns {Write | undefined}
   */
  take() {
    for (const [type, write] of this.#waiting) {
      if (this.#sent.has(type)) continue;
      this.#waiting.delete(type);
      this.#sent.set(type, write);
      return write;
    }
  }

  /**
   * @param {Write} write
   * @param {PorchlightError} [error]
   */
  settle(write, error) {
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
  again(write) {
    const { type } = write.params;
    write.cancel?.();
    if (this.#sent.get(type) !== write) return;
    const newer = this.#waiting.get(type);
    this.#sent.delete(type);
    this.#waiting.set(type, newer ? replace(write, newer) : write);
  }

  /** The connection was lost: the outcome of what was sent is unknown. */
  lose() {
    for (const write of this.#sent.values()) this.again(write);
  }

  /** @param {PorchlightError} error */
  end(error) {
    this.lose();
    for (const write of this.#waiting.values()) this.settle(write, error);
    this.#waiting.clear();
  }
}
