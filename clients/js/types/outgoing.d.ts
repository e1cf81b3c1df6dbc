/** @typedef {import("./error.js").PorchlightError} PorchlightError */
/** @typedef {import("./connection.js").Environment} Environment */
/** @typedef {import("./subscriber.js").Asking} Asking */
/** @typedef {import("./subscriber.js").Subscriber} Subscriber */
/**
 * A message that the service has on disk for all recipients.
 * @typedef {object} Sent
 * @property {string} id as the recipients receive it
 * @property {number} time in milliseconds since 1970
 * @property {number} expires until when it waits, in milliseconds since 1970
 * @property {number} recipients how many accounts
 */
/**
 * What the service knows of this device.
 * @typedef {object} DeviceLabels
 * @property {string} device its name
 * @property {string} [alias]
 * @property {string[]} [tags]
 * @property {string} [pushAddress]
 */
/**
 * A call that is not settled.
 * @typedef {object} Call
 * @property {"send" | "setDevice" | "setVisibility" | "relate"} method
 * @property {object} params
 * @property {number} [expiry] how long a message waits, from the call on, in seconds
 * @property {number} until when that ends
 * @property {(result: any) => void} resolve
 * @property {(error: PorchlightError) => void} reject
 */
/**
 * The messages, and the changes of the device, that are not confirmed. They are sent one after the
 * other: with two in flight, one that is repeated would come after the other.
 */
export class Outgoing {
    /**
     * @param {Environment} environment
     * @param {Subscriber} subscriber knows how long to wait after an error
     * @param {Asking} request
     * @param {() => void} wake calls `send` soon
     * @param {typeof import("./error.js").PorchlightError} PorchlightError the class that the app knows
     */
    constructor(environment: Environment, subscriber: Subscriber, request: Asking, wake: () => void, PorchlightError: typeof import("./error.js").PorchlightError);
    /**
     * Sends a message when there is a session. It keeps its `ref` when it is repeated.
     * @param {string | Iterable<string>} accounts
     * @param {string | undefined} body
     * @param {import("./porchlight.js").MessageOptions} [options]
     * @returns {Promise<Sent>} when the service has confirmed it
     */
    message(accounts: string | Iterable<string>, body: string | undefined, options?: import("./porchlight.js").MessageOptions | undefined): Promise<Sent>;
    /**
     * Sets what the service knows of this device when there is a session.
     * @param {import("./porchlight.js").Labels} labels
     * @returns {Promise<DeviceLabels>} as it is when the service has confirmed it
     */
    device({ alias, tags, pushAddress }: import("./porchlight.js").Labels): Promise<DeviceLabels>;
    /**
     * Sets which subscribers see the account when there is a session.
     * @param {string} visibility
     * @returns {Promise<import("./porchlight.js").Visibility>} the one in force
     */
    visibility(visibility: string): Promise<import("./porchlight.js").Visibility>;
    /**
     * Sends a request when there is a session, after those before it.
     * @param {Call["method"]} method
     * @param {object} params
     * @param {number} [expiry]
     * @returns {Promise<any>} its result
     */
    call(method: Call["method"], params: object, expiry?: number | undefined): Promise<any>;
    /** Sends the first that waits, unless one is not answered yet. */
    send(): void;
    /** The connection was lost: the outcome of what was sent is unknown. */
    lose(): void;
    /** @param {PorchlightError} error */
    end(error: PorchlightError): void;
    #private;
}
export type PorchlightError = import("./error.js").PorchlightError;
export type Environment = import("./connection.js").Environment;
export type Asking = import("./subscriber.js").Asking;
export type Subscriber = import("./subscriber.js").Subscriber;
/**
 * A message that the service has on disk for all recipients.
 */
export type Sent = {
    /**
     * as the recipients receive it
     */
    id: string;
    /**
     * in milliseconds since 1970
     */
    time: number;
    /**
     * until when it waits, in milliseconds since 1970
     */
    expires: number;
    /**
     * how many accounts
     */
    recipients: number;
};
/**
 * What the service knows of this device.
 */
export type DeviceLabels = {
    /**
     * its name
     */
    device: string;
    alias?: string | undefined;
    tags?: string[] | undefined;
    pushAddress?: string | undefined;
};
/**
 * A call that is not settled.
 */
export type Call = {
    method: "send" | "setDevice" | "setVisibility" | "relate";
    params: object;
    /**
     * how long a message waits, from the call on, in seconds
     */
    expiry?: number | undefined;
    /**
     * when that ends
     */
    until: number;
    resolve: (result: any) => void;
    reject: (error: PorchlightError) => void;
};
