/**
 * The writes of statuses that are not answered: for each type at most one that was sent and one
 * that waits, because the last one wins.
 */
export class Statuses {
    /**
     * @param {Environment} environment
     * @param {Subscriber} subscriber knows how long to wait after an error
     * @param {Asking} request
     * @param {() => void} wake calls `send` soon
     */
    constructor(environment: Environment, subscriber: Subscriber, request: Asking, wake: () => void);
    /**
     * The same, for what holds a status.
     * @type {[Map<unknown, Write>, Map<unknown, Write>, Map<unknown, Write["params"]>]}
     */
    maps: [Map<unknown, Write>, Map<unknown, Write>, Map<unknown, Write["params"]>];
    /**
     * Sends a write when there is a session.
     * @param {Write["method"]} method
     * @param {Write["params"]} params
     * @param {number} [seconds] how long the status is to last
     * @returns {Promise<void>} when the service has confirmed it
     */
    write(method: Write["method"], params: Write["params"], seconds?: number | undefined): Promise<void>;
    /** Sends what waits, except for types with a write that is not answered yet. */
    send(): void;
    /** The connection was lost: the outcome of what was sent is unknown. */
    lose(): void;
    /** @param {PorchlightError} error */
    end(error: PorchlightError): void;
    #private;
}
export type Environment = import("./connection.js").Environment;
export type Asking = import("./subscriber.js").Asking;
export type Subscriber = import("./subscriber.js").Subscriber;
/**
 * What a status shall be, and the promises of all calls that asked for it or for what it replaced.
 */
export type Write = {
    method: "publish" | "clear" | "setAvailability";
    /**
     * an availability has no type
     */
    params: {
        [name: string]: unknown;
        type?: number | undefined;
    };
    /**
     * how long it is to last, from the call on
     */
    seconds?: number | undefined;
    /**
     * when that ends
     */
    until: number;
    /**
     * how to not repeat it
     */
    cancel?: (() => void) | undefined;
    calls: [() => void, (error: PorchlightError) => void][];
};
import { PorchlightError } from "./error.js";
