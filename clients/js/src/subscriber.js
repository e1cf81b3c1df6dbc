// @ts-check

import { backoff } from "./environment.js";

/** @typedef {import("./connection.js").Environment} Environment */
/** @typedef {import("./error.js").PorchlightError} PorchlightError */
/** @typedef {import("./topics.js").Topic} Topic */
/** @typedef {import("./topics.js").Topics} Topics */

/** The longest random delay before a request is repeated. */
const WAIT_SECONDS_MAX = 60;
/** The shortest wait before a request above a quota is repeated, in milliseconds. */
const QUOTA = 60_000;
/** A time after the end of each session, but not Infinity: no request is unanswered. */
const NEVER = 1e15;
/** A lease is renewed when 0.4 to 0.5 of it has passed. */
const RENEWAL = 0.4;
const RENEWAL_SPREAD = 0.1;
/** Renewals that fall into the same fortieth of a lease are sent together. */
const RENEWALS_PER_LEASE = 40;

/**
 * Sends a request by the present connection.
 * @callback Asking
 * @param {string} method
 * @param {object} params
 * @param {(result: any) => void} done
 * @param {(error: PorchlightError) => void} failed
 * @returns {void}
 */

/** @param {Topic[]} topics of one type */
const parameters = (topics) => ({
  type: topics[0].presence.type,
  publishers: topics.map(({ presence }) => presence.account),
});

/** Subscribes to the topics that are due, renews, and makes room at the quota. */
export class Subscriber {
  #environment;
  #topics;
  #request;
  #wake;
  #lease;
  /** When the first slot for renewals began: not the same for all clients. */
  #origin;
  /** Subscriptions of the account, as far as known. */
  count = 0;
  publishersMax = 0;
  /** Rounds of requests that the service had no room for, one after the other. */
  failures = 0;
  /** When requests that failed in this round are repeated, at the earliest. */
  #nextRound = 0;

  /**
   * @param {Environment} environment
   * @param {Topics} topics
   * @param {number} lease in milliseconds
   * @param {Asking} request
   * @param {() => void} wake calls `subscribe` soon
   */
  constructor(environment, topics, lease, request, wake) {
    this.#environment = environment;
    this.#topics = topics;
    this.#lease = lease;
    this.#request = request;
    this.#wake = wake;
    this.#origin = environment.now() - lease * environment.random();
  }

  /**
   * Subscribes to what is due.
   * @param {number} now
   */
  subscribe(now) {
    for (;;) {
      const topics = this.#topics.takeDue(now, this.publishersMax);
      if (!topics.length) return;
      this.#subscribe(topics);
    }
  }

  /**
   * Subscriptions have ended. If another program has ended them twice in a short time, they are
   * requested after a while: it might do so again and again.
   * @param {any} params of the notification
   */
  ended({ type, publishers, cause }) {
    const now = this.#environment.now();
    this.#topics.expire(type, publishers, now, cause && now + this.#quotaPause());
    this.#wake();
  }

  /**
   * How long to wait before a request is repeated.
   * @param {{ retryAfter?: number }} data
   */
  pause({ retryAfter = 1 }) {
    const wait = retryAfter * 1_000;
    const now = this.#environment.now();
    if (!this.failures || now >= this.#nextRound) {
      this.failures += 1;
      this.#nextRound = now + wait;
    }
    return wait + backoff(this.#environment, this.failures - 1, WAIT_SECONDS_MAX);
  }

  /** @param {Topic[]} topics */
  #subscribe(topics) {
    const params = { ...parameters(topics), expiry: this.#lease / 1_000, sync: true };
    this.#request("subscribe", params, ({ count, states }) => {
      const now = this.#environment.now();
      const due = this.#renewal(now);
      this.failures = 0;
      this.count = count;
      for (const topic of topics) {
        Object.assign(topic, { due, until: now + this.#lease, error: undefined });
      }
      for (const state of states) this.#topics.apply(state);
      this.#wake();
    }, (error) => this.#rejected(topics, error));
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

  #quotaPause() {
    return QUOTA * (1 + this.#environment.random());
  }

  /**
   * @param {Topic[]} topics
   * @param {PorchlightError} error
   */
  #rejected(topics, error) {
    const { code, reason, data } = error;
    const now = this.#environment.now();
    const isFull = reason === "subscription_quota";
    if (isFull) {
      const idle = this.#topics.takeIdle(now, this.publishersMax);
      if (idle.length) {
        const again = () => this.#retry(topics, 0);
        return this.#request("unsubscribe", parameters(idle), again, again);
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
    // It would be rejected again. A new session asks again.
    const wait = code === 414 ? NEVER
      : code === 419 ? this.#quotaPause() : this.pause(data);
    this.#retry(topics, now + wait, error);
    if (half) this.#retry(fit, 0);
  }

  /**
   * @param {Topic[]} topics
   * @param {number} due
   * @param {PorchlightError} [error] why not now
   */
  #retry(topics, due, error) {
    for (const topic of topics) {
      topic.due = due;
      if (error) topic.error = error;
    }
    this.#wake();
  }
}
