// @ts-check

/** @typedef {import("./connection.js").Environment} Environment */

const TIMER_MAX = 2 ** 31 - 1;

/**
 * The address to connect to: that of the HTTP protocol for a WebSocket, and a missing path, are
 * common mistakes.
 * @param {string | URL} url
 */
export const corrected = (url) => {
  const fixed = new URL((url + "").replace(/^http/i, "ws"));
  if (fixed.pathname === "/") fixed.pathname = "/v1/socket";
  return fixed.href;
};

/**
 * A random time in milliseconds that grows with the number of failures.
 * @param {Environment} environment
 * @param {number} failures
 * @param {number} secondsMax
 */
export const backoff = ({ random }, failures, secondsMax) =>
  random() * 1_000 * Math.min(secondsMax, 2 ** failures);

/** The shortest time for which the service keeps a status or a message. */
const SECONDS_MIN = 60;

/**
 * For how many seconds something is to last that waits since it was asked for: 0 if that is over,
 * undefined without a duration.
 * @param {Environment} environment
 * @param {number} until
 * @param {number} [seconds] the whole duration
 */
export const remaining = ({ now }, until, seconds) => {
  if (seconds === undefined) return;
  const rest = Math.ceil((until - now()) / 1_000);
  return rest > 0 ? Math.max(rest, Math.min(SECONDS_MIN, seconds)) : 0;
};

/** Clock, timers and what the page tells, in all runtimes. */
export const common = {
  now: () => Date.now(),
  random: () => Math.random(),
  /** @param {string} text */
  warn: (text) => console.warn(text),
  /** Timers of a hidden page run late, and prove nothing. */
  isHidden: () => !!globalThis.document?.hidden,

  /**
   * @param {number} milliseconds
   * @param {() => void} action
   */
  after(milliseconds, action) {
    const timer = setTimeout(action, Math.min(milliseconds, TIMER_MAX));
    return () => clearTimeout(timer);
  },

  /**
   * @param {(wasHidden: boolean) => void} back
   * @param {() => void} offline
   */
  listen(back, offline) {
    // Its `signal` is the option that ends a listener.
    const stop = new AbortController();
    globalThis.addEventListener?.("online", () => back(false), stop);
    globalThis.addEventListener?.("offline", offline, stop);
    globalThis.document?.addEventListener(
      "visibilitychange", () => common.isHidden() || back(true), stop);
    return () => stop.abort();
  },
};
