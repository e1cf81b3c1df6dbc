// @ts-check

/** @typedef {import("./topics.js").Presence} Presence */
/** @typedef {import("./topics.js").Topics} Topics */

/**
 * An EventTarget with one event, `change`.
 * @template {Event} Change
 * @typedef {object} Changing
 * @property {(type: "change", listener: ((event: Change) => void) | null,
 *   options?: boolean | AddEventListenerOptions) => void} addEventListener
 * @property {(type: "change", listener: ((event: Change) => void) | null,
 *   options?: boolean | EventListenerOptions) => void} removeEventListener
 * @property {(event: Event) => boolean} dispatchEvent
 */

/** What has changed: the new presence of each account, or undefined if it was deleted.
 * @typedef {ReadonlyMap<string, Presence | undefined>} Changes */

const Target = /** @type {new () => Changing<CustomEvent<Changes>>} */ (
  /** @type {unknown} */ (EventTarget));

/**
 * A live map from names of accounts to what is known of them. It dispatches `change` with a map of
 * what has changed as `detail`.
 */
export class Watch extends Target {
  #topics;
  #type;
  #wake;
  /** @type {Map<string, Presence>} */ #map = new Map();
  /** @type {Map<string, Presence | undefined> | undefined} */ #changes;
  /** @type {Set<() => void>} */ #looks = new Set();
  #isClosed = false;
  #look = () => {
    for (const look of this.#looks) look();
  };
  /** @param {Presence} presence */
  #observe = (presence) => {
    this.#map.set(presence.account, presence);
    this.#change(presence.account, presence);
  };

  /**
   * Use `watch()` of a Porchlight.
   * @param {Topics} topics
   * @param {() => void} wake topics are wanted
   * @param {number} type
   * @param {Iterable<string>} accounts
   */
  constructor(topics, wake, type, accounts) {
    super();
    this.#topics = topics;
    this.#type = type;
    this.#wake = wake;
    this.add(...accounts);
    topics.looks.add(this.#look);
  }

  /** How many accounts are watched. */
  get size() {
    return this.#map.size;
  }

  /**
   * What is known of an account: the same object until something changes; undefined if the account
   * is not watched.
   * @param {string} account
   * @returns {Presence | undefined}
   */
  get(account) {
    return this.#map.get(account);
  }

  /**
   * Whether the account is watched.
   * @param {string} account
   */
  has(account) {
    return this.#map.has(account);
  }

  /** The accounts, in the order in which they were added. */
  keys() {
    return this.#map.keys();
  }

  /**
   * What is known of each account.
   * @returns {IterableIterator<Presence>}
   */
  values() {
    return this.#map.values();
  }

  /**
   * Each account, and what is known of it.
   * @returns {IterableIterator<[string, Presence]>}
   */
  entries() {
    return this.#map.entries();
  }

  /**
   * The same as `entries()`.
   * @returns {IterableIterator<[string, Presence]>}
   */
  [Symbol.iterator]() {
    return this.entries();
  }

  /**
   * Calls a function with each presence, its account and this watch.
   * @param {(presence: Presence, account: string, watch: Watch) => void} action
   * @param {unknown} [self] its `this`
   */
  forEach(action, self) {
    this.#map.forEach((presence, account) => action.call(self, presence, account, this));
  }

  /**
   * Resolves when the service has answered for each account that is watched then: with `true` if all
   * are known, with `false` if it has rejected some, or the watch or the client was closed before. It
   * never rejects. What is known may be old: see `live`.
   * @returns {Promise<boolean>}
   */
  get ready() {
    return new Promise((resolve) => {
      const look = () => {
        const all = [...this.values()];
        const isOver = this.#isClosed || this.#topics.isOver;
        if (!isOver && all.some((presence) => !this.#topics.isKnown(presence))) return;
        this.removeEventListener("change", look);
        this.#looks.delete(look);
        resolve(!this.#isClosed && all.every(({ cause }) => cause));
      };
      this.addEventListener("change", look);
      this.#looks.add(look);
      look();
    });
  }

  /**
   * Begins to watch further accounts. Those that are watched already stay as they are.
   * @param {string[]} accounts
   */
  add(...accounts) {
    if (this.#isClosed) return;
    if (accounts.some((account) => typeof account !== "string")) {
      throw new TypeError("Account names are strings.");
    }
    for (const account of accounts) {
      if (!this.#map.has(account)) {
        this.#observe(this.#topics.want(this.#type, account, this.#observe));
      }
    }
    this.#wake();
  }

  /**
   * Ends watching some accounts.
   * @param {string[]} accounts
   */
  delete(...accounts) {
    for (const account of accounts) {
      if (!this.#map.delete(account)) continue;
      this.#topics.leave(this.#type, account, this.#observe);
      this.#change(account, undefined);
    }
    this.#wake();
  }

  /** Ends it and empties it. Subscriptions are no longer renewed. */
  close() {
    this.#isClosed = true;
    for (const account of this.#map.keys()) this.#topics.leave(this.#type, account, this.#observe);
    this.#map.clear();
    this.#topics.looks.delete(this.#look);
    this.#look();
    this.#wake();
  }

  /** The same as `changes()`. */
  [Symbol.asyncIterator]() {
    return this.changes();
  }

  /**
   * The whole map, and then each change, for `for await`. It ends with the watch or the client.
   * Changes that happen while the loop is busy are gathered: the newest of each account.
   * @returns {AsyncGenerator<Changes, void, void>}
   */
  async *changes() {
    await undefined; // Changes that are already gathered are part of the whole.
    /** @type {Map<string, Presence | undefined>} */
    let changes = new Map(this.#map);
    let wake = () => {};
    /** @param {CustomEvent<Changes>} event */
    const listener = ({ detail }) => {
      for (const [account, presence] of detail) changes.set(account, presence);
      wake();
    };
    const look = () => wake();
    this.addEventListener("change", listener);
    this.#looks.add(look);
    try {
      while (!this.#isClosed) {
        if (changes.size) {
          const all = changes;
          changes = new Map();
          yield all;
        } else if (this.#topics.isOver) {
          return;
        } else {
          await new Promise((resolve) => (wake = /** @type {() => void} */ (resolve)));
        }
      }
    } finally {
      this.removeEventListener("change", listener);
      this.#looks.delete(look);
    }
  }

  /**
   * Gathers the changes of a turn into one event.
   * @param {string} account
   * @param {Presence | undefined} presence
   */
  #change(account, presence) {
    if (!this.#changes) {
      this.#changes = new Map();
      queueMicrotask(() => {
        const detail = this.#changes;
        this.#changes = undefined;
        if (!this.#isClosed) this.dispatchEvent(new CustomEvent("change", { detail }));
      });
    }
    this.#changes.set(account, presence);
  }
}
