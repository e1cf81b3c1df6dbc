export function follower(porchlight: Porchlight, type?: number | undefined): Follower;
export function unknown(account: string, type?: number | undefined): Presence;
export type Porchlight = import("./porchlight.js").Porchlight;
export type Presence = import("./topics.js").Presence;
/**
 * What many parts of a page show of accounts, by one watch with one listener. An account is watched
 * while a part shows it, and a change is told only to the parts that show its account.
 */
declare class Follower {
    /**
     * @param {Porchlight} porchlight
     * @param {number} type
     */
    constructor(porchlight: Porchlight, type: number);
    /**
     * What the service has said of an account; undefined before.
     * @param {string} account
     */
    get(account: string): Readonly<import("./topics.js").PresenceMembers> | undefined;
    /**
     * Begins to show an account.
     * @param {string} account
     * @param {() => void} changed
     * @returns {() => void} how to end it
     */
    add(account: string, changed: () => void): () => void;
    #private;
}
export {};
