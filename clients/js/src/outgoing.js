// @ts-check
import { remaining } from "./environment.js";
import { isTransient } from "./error.js";

/** @typedef {import("./error.js").PorchlightError} PorchlightError */
/** @typedef {import("./connection.js").Environment} Environment */
/** @typedef {import("./subscriber.js").Asking} Asking */
/** @typedef {import("./subscriber.js").Subscriber} Subscriber */

/**
 * A message that the service has on disk for all recipients.
 * @typedef {object} Sent
 * @property {string} id as the recipients receive it
 * @property {number} time in milliseconds since 1970
 * @property {number} expires until when it waits, in milliseconds since 1970
 * @property {number} recipients how many accounts
 */

/**
 * What the service knows of this device.
 * @typedef {object} DeviceLabels
 * @property {string} device its name
 * @property {string} [alias]
 * @property {string[]} [tags]
 * @property {string} [pushAddress]
 */

/**
 * A call that is not settled.
 * @typedef {object} Call
 * @property {"send" | "setDevice" | "setVisibility" | "relate"} method
 * @property {object} params
 * @property {number} [expiry] how long a message waits, from the call on, in seconds
 * @property {number} until when that ends
 * @property {(result: any) => void} resolve
 * @property {(error: PorchlightError) => void} reject
 */

/**
 * The messages, and the changes of the device, that are not confirmed. They are sent one after the
 * other: with two in flight, one that is repeated would come after the other.
 */
export class Outgoing {
  #environment;
  #subscriber;
  #request;
  #wake;
  #Error;
  /** @type {Call[]} */ #calls = [];
  /** The first is sent, or waits to be repeated. */
  #isBusy = false;
  #cancel = () => {};
  /** Why nothing is sent any more. */
  /** @type {PorchlightError | undefined} */ #error;

  /**
   * @param {Environment} environment
   * @param {Subscriber} subscriber knows how long to wait after an error
   * @param {Asking} request
   * @param {() => void} wake calls `send` soon
   * @param {typeof import("./error.js").PorchlightError} PorchlightError the class that the app knows
   */
  constructor(environment, subscriber, request, wake, PorchlightError) {
    this.#environment = environment;
    this.#subscriber = subscriber;
    this.#request = request;
    this.#wake = wake;
    this.#Error = PorchlightError;
  }

  /**
   * Sends a message when there is a session. It keeps its `ref` when it is repeated.
   * @param {string | Iterable<string>} accounts
   * @param {string | undefined} body
   * @param {import("./porchlight.js").MessageOptions} [options]
   * @returns {Promise<Sent>} when the service has confirmed it
   */
  message(accounts, body, options = {}) {
    const { ext, expiry, device, receipt, ref = this.#ref() } = options;
    const names = typeof accounts === "string" ? [accounts] : [...accounts];
    return this.call("send", { accounts: names, body, ext, device, receipt, ref }, expiry);
  }

  /**
   * Sets what the service knows of this device when there is a session.
   * @param {import("./porchlight.js").Labels} labels
   * @returns {Promise<DeviceLabels>} as it is when the service has confirmed it
   */
  async device({ alias, tags, pushAddress }) {
    const list = typeof tags === "string" ? [tags] : tags && [...tags];
    return (await this.call("setDevice", { alias, tags: list, pushAddress })).device;
  }

  /**
   * Sets which subscribers see the account when there is a session.
   * @param {string} visibility
   * @returns {Promise<import("./porchlight.js").Visibility>} the one in force
   */
  async visibility(visibility) {
    return (await this.call("setVisibility", { visibility })).visibility;
  }

  /**
   * Sends a request when there is a session, after those before it.
   * @param {Call["method"]} method
   * @param {object} params
   * @param {number} [expiry]
   * @returns {Promise<any>} its result
   */
  call(method, params, expiry) {
    return new Promise((resolve, reject) => {
      if (this.#error) return reject(this.#error);
      const until = this.#environment.now() + /** @type {number} */ (expiry) * 1_000;
      this.#calls.push({ method, params, expiry, until, resolve, reject });
      this.#wake();
    });
  }

  /** Sends the first that waits, unless one is not answered yet. */
  send() {
    const [call] = this.#calls;
    if (!call || this.#isBusy) return;
    const expiry = remaining(this.#environment, call.until, call.expiry);
    if (expiry === 0) return this.#settle(() => call.reject(new this.#Error("It has expired.", "expired")));
    this.#isBusy = true;
    this.#request(call.method, { ...call.params, expiry }, (result) => {
      this.#subscriber.failures = 0;
      this.#settle(() => call.resolve(result));
    }, (error) => {
      if (!isTransient(error)) return this.#settle(() => call.reject(error));
      this.#cancel = this.#environment.after(this.#subscriber.pause(error.data), () => {
        this.#isBusy = false;
        this.#wake();
      });
    });
  }

  /** The connection was lost: the outcome of what was sent is unknown. */
  lose() {
    this.#cancel();
    this.#isBusy = false;
  }

  /** @param {PorchlightError} error */
  end(error) {
    this.#error = error;
    for (const { reject } of this.#calls.splice(0)) reject(error);
  }

  /** @param {() => void} outcome of the first */
  #settle(outcome) {
    this.#calls.shift();
    this.#isBusy = false;
    outcome();
    this.#wake();
  }

  /** A name for a message that no other of this account has. */
  #ref() {
    const word = () => this.#environment.random().toString(36).slice(2, 14);
    return word() + word();
  }
}
