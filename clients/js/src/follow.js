// @ts-check

/** @typedef {import("./porchlight.js").Porchlight} Porchlight */
/** @typedef {import("./topics.js").Presence} Presence */

/** For how long an account stays watched that nothing shows any more, in milliseconds. */
const LINGER = 1_000;

/** Names of accounts have 1 to 128 bytes, no control characters, no spaces around them. */
const BYTES_MAX = 128;

/** @param {string} account */
const isName = (account) =>
  !/^ | $|[\0-\x1f\x7f-\x9f]/.test(account) && new Blob([account]).size <= BYTES_MAX;

/**
 * What many parts of a page show of accounts, by one watch with one listener. An account is watched
 * while a part shows it, and a change is told only to the parts that show its account.
 */
class Follower {
  #watch;
  /** @type {Map<string, Set<() => void>>} */ #parts = new Map();

  /**
   * @param {Porchlight} porchlight
   * @param {number} type
   */
  constructor(porchlight, type) {
    this.#watch = porchlight.watch([], { type });
    this.#watch.addEventListener("change", ({ detail }) => {
      for (const account of detail.keys()) {
        for (const changed of this.#parts.get(account) ?? []) changed();
      }
    });
  }

  /**
   * What the service has said of an account; undefined before.
   * @param {string} account
   */
  get(account) {
    const presence = this.#watch.get(account);
    return presence?.cause ? presence : undefined;
  }

  /**
   * Begins to show an account.
   * @param {string} account
   * @param {() => void} changed
   * @returns {() => void} how to end it
   */
  add(account, changed) {
    // The service says which rule, and not which name.
    if (!this.#parts.has(account) && !isName(account)) {
      console.warn(`Porchlight: no account has the name ${JSON.stringify(account)}.`);
    }
    const parts = this.#parts.get(account) ?? new Set();
    this.#watch.add(account);
    this.#parts.set(account, parts);
    // A part of its own, also if the same function is given twice.
    const part = () => changed();
    parts.add(part);
    return () => {
      parts.delete(part);
      // A list that is drawn again shows it again at once.
      if (!parts.size) setTimeout(() => this.#leave(account), LINGER);
    };
  }

  /** @param {string} account */
  #leave(account) {
    if (this.#parts.get(account)?.size) return;
    this.#parts.delete(account);
    this.#watch.delete(account);
  }
}

/** @type {WeakMap<Porchlight, Map<number, Follower>>} */ const followers = new WeakMap();

/**
 * The one of a client and a type.
 * @param {Porchlight} porchlight
 * @param {number} [type] 1 is presence
 */
export const follower = (porchlight, type = 1) => {
  const known = followers.get(porchlight) ?? new Map();
  followers.set(porchlight, known);
  if (!known.has(type)) known.set(type, new Follower(porchlight, type));
  return /** @type {Follower} */ (known.get(type));
};

/**
 * What is shown of an account before the service has said anything.
 * @param {string} account
 * @param {number} [type]
 * @returns {Presence}
 */
export const unknown = (account, type = 1) =>
  Object.freeze({ account, type, is: "unknown", live: false, devices: [] });
