// @ts-check

const TIMER_MAX = 2 ** 31 - 1;

/** Clock, timers and what the page tells, in all runtimes. */
export const common = {
  now: () => Date.now(),
  random: () => Math.random(),
  /** @param {string} text */
  warn: (text) => console.warn(text),

  /**
   * @param {number} milliseconds
   * @param {() => void} action
   */
  after(milliseconds, action) {
    const timer = setTimeout(action, Math.min(milliseconds, TIMER_MAX));
    return () => clearTimeout(timer);
  },

  /**
   * @param {() => void} online
   * @param {() => void} offline
   */
  listen(online, offline) {
    const page = globalThis.document;
    const visible = () => {
      if (page.visibilityState === "visible") online();
    };
    globalThis.addEventListener?.("online", online);
    globalThis.addEventListener?.("offline", offline);
    page?.addEventListener("visibilitychange", visible);
    return () => {
      globalThis.removeEventListener?.("online", online);
      globalThis.removeEventListener?.("offline", offline);
      page?.removeEventListener("visibilitychange", visible);
    };
  },
};
