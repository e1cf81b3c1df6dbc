declare const Watch_base: new () => Changing<CustomEvent<Changes>>;
/**
 * A live map from names of accounts to what is known of them. It dispatches `change` with a map of
 * what has changed as `detail`.
 */
export class Watch extends Watch_base {
    /**
     * Use `watch()` of a Porchlight.
     * @param {Topics} topics
     * @param {() => void} wake topics are wanted
     * @param {number} type
     * @param {Iterable<string>} accounts
     */
    constructor(topics: Topics, wake: () => void, type: number, accounts: Iterable<string>);
    /** How many accounts are watched. */
    get size(): number;
    /**
     * What is known of an account: the same object until something changes; undefined if the account
     * is not watched.
     * @param {string} account
     * @returns {Presence | undefined}
     */
    get(account: string): Readonly<import("./topics.js").PresenceMembers> | undefined;
    /**
     * Whether the account is watched.
     * @param {string} account
     */
    has(account: string): boolean;
    /** The accounts, in the order in which they were added. */
    keys(): IterableIterator<string>;
    /**
     * What is known of each account.
     * @returns {IterableIterator<Presence>}
     */
    values(): IterableIterator<Presence>;
    /**
     * Each account, and what is known of it.
     * @returns {IterableIterator<[string, Presence]>}
     */
    entries(): IterableIterator<[string, Readonly<import("./topics.js").PresenceMembers>]>;
    /**
     * Calls a function with each presence, its account and this watch.
     * @param {(presence: Presence, account: string, watch: Watch) => void} action
     * @param {unknown} [self] its `this`
     */
    forEach(action: (presence: Presence, account: string, watch: Watch) => void, self?: unknown): void;
    /**
     * Resolves when the service has answered for each account that is watched then: with `true` if all
     * are known, with `false` if it has rejected some, or the watch or the client was closed before. It
     * never rejects. What is known may be old: see `live`.
     * @returns {Promise<boolean>}
     */
    get ready(): Promise<boolean>;
    /**
     * Begins to watch further accounts. Those that are watched already stay as they are.
     * @param {string[]} accounts
     */
    add(...accounts: string[]): void;
    /**
     * Ends watching some accounts.
     * @param {string[]} accounts
     */
    delete(...accounts: string[]): void;
    /** Ends it and empties it. Subscriptions are no longer renewed. */
    close(): void;
    /**
     * The whole map, and then each change, for `for await`. It ends with the watch or the client.
     * Changes that happen while the loop is busy are gathered: the newest of each account.
     * @returns {AsyncGenerator<Changes, void, void>}
     */
    changes(): AsyncGenerator<Changes, void, void>;
    /**
     * The same as `entries()`.
     * @returns {IterableIterator<[string, Presence]>}
     */
    [Symbol.iterator](): IterableIterator<[string, Readonly<import("./topics.js").PresenceMembers>]>;
    /** The same as `changes()`. */
    [Symbol.asyncIterator](): AsyncGenerator<Changes, void, void>;
    #private;
}
export type Presence = import("./topics.js").Presence;
export type Topics = import("./topics.js").Topics;
/**
 * An EventTarget with one event, `change`.
 */
export type Changing<Change extends Event> = {
    addEventListener: (type: "change", listener: ((event: Change) => void) | null, options?: boolean | AddEventListenerOptions) => void;
    removeEventListener: (type: "change", listener: ((event: Change) => void) | null, options?: boolean | EventListenerOptions) => void;
    dispatchEvent: (event: Event) => boolean;
};
/**
 * What has changed: the new presence of each account, or undefined if it was deleted.
 */
export type Changes = ReadonlyMap<string, Presence | undefined>;
export {};
