// @ts-check

/** @typedef {import("./connection.js").Hooks} Hooks */
/** @typedef {import("./connection.js").Part} Part */

/** What a user does. Pages scroll by themselves, too. */
const EVENTS = ["pointermove", "pointerdown", "keydown", "wheel", "touchstart"];
/** In seconds. */
const AFTER = 300;

/**
 * Shows this device as away while nothing is done in the page for some time. A page that is hidden
 * has no activity. What the app has set, such as `dnd`, stays.
 * @param {Hooks} hooks
 * @param {import("./porchlight.js").Options} options
 * @returns {Part}
 */
export const begin = ({ environment, adjust }, { away }) => {
  const page = globalThis.document;
  let { after = AFTER } = away ?? {};
  if (!page) {
    environment.warn?.("Porchlight: there is no page to be `away` from.");
    return {};
  }
  if (!(after > 0)) {
    environment.warn?.("Porchlight: `away.after` is a number of seconds, more than 0.");
    after = AFTER;
  }
  let last = environment.now();
  let isIdle = false;
  let position = "";
  let cancel = () => {};

  const show = () => adjust((availability) => {
    const { show = "available" } = availability;
    const isFree = show === "available" || show === "chat";
    return isIdle && isFree ? { ...availability, show: "away" } : availability;
  });
  const check = () => {
    const rest = last + after * 1_000 - environment.now();
    isIdle = rest <= 0;
    if (isIdle) show();
    else cancel = environment.after(rest, check);
  };
  /** @param {Event & { screenX?: number, screenY?: number }} event */
  const active = ({ type, screenX, screenY }) => {
    // The pointer stands still, and the page moves under it.
    if (type === "pointermove" && position === (position = `${screenX} ${screenY}`)) return;
    last = environment.now();
    if (!isIdle) return;
    check();
    show();
  };

  const listeners = new AbortController();
  const options = { capture: true, passive: true, signal: listeners.signal };
  for (const type of EVENTS) page.addEventListener(type, active, options);
  // Whoever hides a page or comes back to it is there.
  page.addEventListener("visibilitychange", active, options);
  show();
  check();
  return {
    stop: () => {
      cancel();
      listeners.abort();
    },
  };
};
