// @ts-check

/** @typedef {import("./connection.js").Hooks} Hooks */
/** @typedef {import("./connection.js").Part} Part */
/** @typedef {import("./statuses.js").Write} Write */

/** It is renewed at half of the time for which it is set. */
const RENEWALS_PER_LIFE = 2;

/** When a renewal that was rejected is tried again, as a part of that time. */
const REPEATS_PER_LIFE = 4;

/** The clock of the service may run faster by this, in milliseconds. */
const DRIFT = 5_000;

/**
 * Holds a status that is to end with the session: renews it before it expires, and clears it at
 * the end. It lets go when the status is replaced or cleared, here or on another device, also if
 * this one was not connected then.
 * @param {Hooks} hooks
 * @param {Write["params"]} params as they were written first
 * @param {Promise<void>} written when the service has confirmed that
 * @param {() => void} ended
 * @returns {{ send: () => void, stop: () => void, leave: (isLogout: boolean) => void }}
 */
const held = ({ porchlight, environment, statuses, request }, params, written, ended) => {
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
    ended();
  };
  const [waiting, sent, confirmed] = statuses.maps;
  // No later call for this type has taken its place; one that was rejected does not.
  const isHeld = () => !isOver && confirmed.get(type) === params;
  /** What the service has, if that is known: the status of this call, or none any more. */
  const look = () => {
    const [presence] = own?.values() ?? [];
    if (!presence?.live) return;
    const { status, cause } = presence;
    const isOther = status
      ? status.value !== value || status.text !== ext
      : cause === "cleared" || now() < until - DRIFT;
    if (isOther || !isHeld()) return stop();
    // A later call that is not answered yet would be replaced.
    if (!isDue || waiting.has(type) || sent.has(type)) return;
    isDue = false;
    statuses.write("publish", params).then(plan, () => {
      if (isHeld()) renewAfter(life / REPEATS_PER_LIFE);
      else stop();
    });
  };
  /** @param {number} milliseconds */
  const renewAfter = (milliseconds) => {
    cancel = after(milliseconds, () => {
      isDue = true;
      look();
    });
  };
  const plan = () => {
    if (!isHeld()) return stop();
    until = now() + life;
    if (!own) {
      own = porchlight.watch(/** @type {string} */ (porchlight.account), { type });
      own.addEventListener("change", look);
    }
    renewAfter(life / RENEWALS_PER_LIFE);
  };
  written.then(plan, stop);
  return {
    stop,
    send: () => {
      if (isDue) look();
    },
    leave: (isLogout) => {
      // What waits will not be sent.
      const last = sent.get(type)?.params ?? confirmed.get(type);
      if (isLogout && !isOver && last === params) request("clear", { type }, () => {}, () => {});
    },
  };
};

/**
 * @param {Hooks} hooks
 * @returns {Part & { hold: (params: Write["params"], written: Promise<void>) => void }}
 */
export const begin = (hooks) => {
  /** Those of one type, too, until it is known which of them the service has. */
  /** @type {Set<ReturnType<typeof held>>} */ const all = new Set();
  return {
    hold(params, written) {
      const each = held(hooks, params, written, () => all.delete(each));
      all.add(each);
    },
    send() {
      // A later call may have been rejected.
      for (const { send } of all) send();
    },
    leave(isLogout) {
      for (const { leave } of all) leave(isLogout);
    },
    stop() {
      for (const { stop } of all) stop();
    },
  };
};
