export function lost(cause?: {
    message?: string | undefined;
    code?: string | undefined;
} | undefined): PorchlightError;
/**
 * What carries messages. An empty message is a keep-alive.
 * @typedef {object} Wire
 * @property {(message: string) => void} send
 * @property {() => void} close ends it; what is reported afterwards is ignored
 */
/**
 * What a wire reports.
 * @typedef {object} WireEvents
 * @property {() => void} opened
 * @property {(message: string) => void} received
 * @property {(code?: number, reason?: string, cause?: Error) => void} closed
 */
/**
 * What is loaded only when it is needed. In Node it is there.
 * @typedef {object} Parts
 * @property {() => Promise<PartModule>} away
 * @property {() => Promise<PartModule>} contacts
 * @property {() => Promise<PartModule>} debug
 * @property {() => Promise<PartModule>} hold
 * @property {() => Promise<PartModule>} messages
 * @property {() => Promise<PartModule>} push
 */
/** @typedef {import("./porchlight.js").Options} Options */
/** @typedef {{ begin: (hooks: Hooks, options: Options) => Part }} PartModule */
/**
 * What such a part may use.
 * @typedef {object} Hooks
 * @property {import("./porchlight.js").Porchlight} porchlight
 * @property {Environment} environment
 * @property {import("./statuses.js").Statuses} statuses
 * @property {import("./subscriber.js").Subscriber} subscriber knows how long to wait after an error
 * @property {import("./subscriber.js").Asking} request
 * @property {typeof PorchlightError} PorchlightError the class that the app knows
 * @property {() => string | undefined} pushKey that of the service, if there is a session
 * @property {() => void} wake calls `send` soon
 * @property {(adjust: (availability: import("./porchlight.js").Availability) =>
 *   import("./porchlight.js").Availability) => void} adjust how this device is shown, from now on
 */
/**
 * What it is told.
 * @typedef {object} Part
 * @property {(error: PorchlightError) => void} [stop] there will be no further session
 * @property {(isLogout: boolean) => void} [leave] before that, while there is a connection
 * @property {() => void} [send] there is a session, and something has changed
 * @property {() => void} [lose] the connection was lost
 * @property {(method: string, params: any) => void} [notified] by the service
 */
/**
 * What the SDK needs of the outside. Tests have a clock and a service of their own.
 * @typedef {object} Environment
 * @property {() => number} now in milliseconds
 * @property {(milliseconds: number, action: () => void) => () => void} after returns how to cancel
 * @property {() => number} random from 0 up to 1
 * @property {(url: string, events: WireEvents) => Wire} open
 * @property {(account?: string) => Promise<{ name: string, release: () => void }>} device
 * @property {(back: (wasHidden?: boolean) => void, offline: () => void) => () => void} listen
 *   `back`: the network is back, or the page is not hidden any more; returns how to stop
 * @property {string} client
 * @property {Parts} parts
 * @property {(text: string) => void} [warn] tells the developer
 * @property {() => boolean} [isHidden] timers run late, and prove nothing
 */
/**
 * One connection: requests and responses, keep-alives, and why it ended. Requests that are
 * unanswered when it ends are forgotten; their outcome is unknown.
 */
export class Connection {
    /**
     * @param {Environment} environment
     * @param {(error: PorchlightError) => void} ended
     * @param {(method: string, params: any) => void} notified
     */
    constructor(environment: Environment, ended: (error: PorchlightError) => void, notified: (method: string, params: any) => void);
    /**
     * Ends it after some time, without further keep-alives.
     * @param {number} milliseconds
     */
    limit(milliseconds: number): void;
    /**
     * @param {string} url
     * @param {() => void} opened
     */
    open(url: string, opened: () => void): void;
    /**
     * @param {string} method
     * @param {object} params
     * @param {(result: any) => void} done
     * @param {(error: PorchlightError) => void} failed
     */
    request(method: string, params: object, done: (result: any) => void, failed: (error: PorchlightError) => void): void;
    /**
     * The session has begun: send keep-alives from now on.
     * @param {number} heartbeat in seconds
     * @param {number} bytesMax in the body of a request
     */
    keep(heartbeat: number, bytesMax: number): void;
    /**
     * Finds out soon whether the connection lives.
     * @param {boolean} wasHidden timers were late without the device being asleep
     */
    probe(wasHidden?: boolean): void;
    /** Logs out, and ends when that is answered. What was requested before is forgotten. */
    leave(): void;
    /** @param {PorchlightError} error */
    end(error: PorchlightError): void;
    #private;
}
/**
 * What carries messages. An empty message is a keep-alive.
 */
export type Wire = {
    send: (message: string) => void;
    /**
     * ends it; what is reported afterwards is ignored
     */
    close: () => void;
};
/**
 * What a wire reports.
 */
export type WireEvents = {
    opened: () => void;
    received: (message: string) => void;
    closed: (code?: number, reason?: string, cause?: Error) => void;
};
/**
 * What is loaded only when it is needed. In Node it is there.
 */
export type Parts = {
    away: () => Promise<PartModule>;
    contacts: () => Promise<PartModule>;
    debug: () => Promise<PartModule>;
    hold: () => Promise<PartModule>;
    messages: () => Promise<PartModule>;
    push: () => Promise<PartModule>;
};
export type Options = import("./porchlight.js").Options;
export type PartModule = {
    begin: (hooks: Hooks, options: Options) => Part;
};
/**
 * What such a part may use.
 */
export type Hooks = {
    porchlight: import("./porchlight.js").Porchlight;
    environment: Environment;
    statuses: import("./statuses.js").Statuses;
    /**
     * knows how long to wait after an error
     */
    subscriber: import("./subscriber.js").Subscriber;
    request: import("./subscriber.js").Asking;
    /**
     * the class that the app knows
     */
    PorchlightError: typeof PorchlightError;
    /**
     * that of the service, if there is a session
     */
    pushKey: () => string | undefined;
    /**
     * calls `send` soon
     */
    wake: () => void;
    /**
     * how this device is shown, from now on
     */
    adjust: (adjust: (availability: import("./porchlight.js").Availability) => import("./porchlight.js").Availability) => void;
};
/**
 * What it is told.
 */
export type Part = {
    /**
     * there will be no further session
     */
    stop?: ((error: PorchlightError) => void) | undefined;
    /**
     * before that, while there is a connection
     */
    leave?: ((isLogout: boolean) => void) | undefined;
    /**
     * there is a session, and something has changed
     */
    send?: (() => void) | undefined;
    /**
     * the connection was lost
     */
    lose?: (() => void) | undefined;
    /**
     * by the service
     */
    notified?: ((method: string, params: any) => void) | undefined;
};
/**
 * What the SDK needs of the outside. Tests have a clock and a service of their own.
 */
export type Environment = {
    /**
     * in milliseconds
     */
    now: () => number;
    /**
     * returns how to cancel
     */
    after: (milliseconds: number, action: () => void) => () => void;
    /**
     * from 0 up to 1
     */
    random: () => number;
    open: (url: string, events: WireEvents) => Wire;
    device: (account?: string) => Promise<{
        name: string;
        release: () => void;
    }>;
    /**
     *   `back`: the network is back, or the page is not hidden any more; returns how to stop
     */
    listen: (back: (wasHidden?: boolean) => void, offline: () => void) => () => void;
    client: string;
    parts: Parts;
    /**
     * tells the developer
     */
    warn?: ((text: string) => void) | undefined;
    /**
     * timers run late, and prove nothing
     */
    isHidden?: (() => boolean) | undefined;
};
import { PorchlightError } from "./error.js";
