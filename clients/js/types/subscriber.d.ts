/** Subscribes to the topics that are due, renews, and makes room at the quota. */
export class Subscriber {
    /**
     * @param {Environment} environment
     * @param {Topics} topics
     * @param {number} lease in milliseconds
     * @param {Asking} request
     * @param {() => void} wake calls `subscribe` soon
     */
    constructor(environment: Environment, topics: Topics, lease: number, request: Asking, wake: () => void);
    /** Subscriptions of the account, as far as known. */
    count: number;
    publishersMax: number;
    /** Rounds of requests that the service had no room for, one after the other. */
    failures: number;
    /**
     * Subscribes to what is due.
     * @param {number} now
     */
    subscribe(now: number): void;
    /**
     * Subscriptions have ended. If another program has ended them twice in a short time, they are
     * requested after a while: it might do so again and again.
     * @param {any} params of the notification
     */
    ended({ type, publishers, cause }: any): void;
    /**
     * How long to wait before a request is repeated.
     * @param {{ retryAfter?: number }} data
     */
    pause({ retryAfter }: {
        retryAfter?: number;
    }): number;
    #private;
}
export type Environment = import("./connection.js").Environment;
export type PorchlightError = import("./error.js").PorchlightError;
export type Topic = import("./topics.js").Topic;
export type Topics = import("./topics.js").Topics;
/**
 * Sends a request by the present connection.
 */
export type Asking = (method: string, params: object, done: (result: any) => void, failed: (error: PorchlightError) => void) => void;
