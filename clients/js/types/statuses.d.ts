/**
 * The writes of statuses that are not answered: for each type at most one that was sent and one
 * that waits, because the last one wins.
 */
export class Statuses {
    /** @param {Write} write */
    add(write: Write): void;
    /**
     * Takes a write that can be sent now.
     * @returns {Write | undefined}
     */
    take(): Write | undefined;
    /**
     * @param {Write} write
     * @param {PorchlightError} [error]
     */
    settle(write: Write, error?: PorchlightError | undefined): void;
    /**
     * What was sent waits again, unless something newer does.
     * @param {Write} write
     */
    again(write: Write): void;
    /** The connection was lost: the outcome of what was sent is unknown. */
    lose(): void;
    /** @param {PorchlightError} error */
    end(error: PorchlightError): void;
    #private;
}
/**
 * What a status shall be, and the promises of all calls that asked for it or for what it replaced.
 */
export type Write = {
    method: "publish" | "clear";
    params: {
        type: number;
        value?: number;
        ext?: string;
        onlineOnly?: boolean;
    };
    /**
     * how long it is to last, from the call on
     */
    seconds?: number | undefined;
    /**
     * when that ends
     */
    until?: number | undefined;
    /**
     * how to not repeat it
     */
    cancel?: (() => void) | undefined;
    calls: [() => void, (error: PorchlightError) => void][];
};
import { PorchlightError } from "./error.js";
