// @ts-check

/** @typedef {import("./connection.js").Hooks} Hooks */
/** @typedef {import("./connection.js").Part} Part */
/** @typedef {import("./statuses.js").Write} Write */

/** It is renewed at half of the time for which it is set. */
const RENEWALS_PER_LIFE = 2;

/** The clock of the service may run faster by this, in milliseconds. */
const DRIFT = 5_000;

/**
 * Holds a status that is to end with the session: renews it before it expires, and clears it at
 * the end. It lets go when the status is replaced or cleared, here or on another device, also if
 * this one was not connected then.
 * @param {Hooks} hooks
 * @param {Write["params"]} params as they were written first
 * @param {Promise<void>} written when the service has confirmed that
 * @returns {{ stop: () => void, leave: (isLogout: boolean) => void }}
 */
const held = ({ porchlight, environment, statuses, request }, params, written) => {
  const { type, value, ext } = params;
  const life = Number(params.expiry) * 1_000;
  const { now, after } = environment;
  let isOver = false;
  let isDue = false;
  let until = 0;
  /** @type {import("./watch.js").Watch | undefined} */ let own;
  let cancel = () => {};
  const stop = () => {
    isOver = true;
    cancel();
    own?.close();
  };
  // A later call for this type has taken its place.
  const isHeld = () => !isOver && statuses.newest(type) === params;
  /** What the service has, if that is known: the status of this call, or none any more. */
  const look = () => {
    const [presence] = own?.values() ?? [];
    if (!presence?.live) return;
    const { status, cause } = presence;
    const isOther = status
      ? status.value !== value || status.text !== ext
      : cause === "cleared" || now() < until - DRIFT;
    if (isOther || !isHeld()) return stop();
    if (!isDue) return;
    isDue = false;
    statuses.write("publish", params).then(plan, stop);
  };
  const plan = () => {
    if (!isHeld()) return stop();
    until = now() + life;
    if (!own) {
      own = porchlight.watch(/** @type {string} */ (porchlight.account), { type });
      own.addEventListener("change", look);
    }
    cancel = after(life / RENEWALS_PER_LIFE, () => {
      isDue = true;
      look();
    });
  };
  written.then(plan, stop);
  return {
    stop,
    leave: (isLogout) => {
      if (isLogout && isHeld()) request("clear", { type }, () => {}, () => {});
    },
  };
};

/**
 * @param {Hooks} hooks
 * @returns {Part & { hold: (params: Write["params"], written: Promise<void>) => void }}
 */
export const begin = (hooks) => {
  /** @type {Map<unknown, ReturnType<typeof held>>} */ const all = new Map();
  return {
    hold(params, written) {
      all.get(params.type)?.stop();
      all.set(params.type, held(hooks, params, written));
    },
    leave(isLogout) {
      for (const { leave } of all.values()) leave(isLogout);
    },
    stop() {
      for (const { stop } of all.values()) stop();
    },
  };
};
