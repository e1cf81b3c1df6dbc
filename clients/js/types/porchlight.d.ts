declare const Porchlight_base: new () => Changing;
/** A session that lasts: it reconnects, and keeps what is watched current. */
export class Porchlight extends Porchlight_base {
    /**
     * Use `connect()`.
     * @param {string} url
     * @param {Options} options
     * @param {Environment} environment
     */
    constructor(url: string, options: Options, environment: Environment);
    /** Whether there is a session. A `change` event follows each change of it or of `error`. */
    get condition(): Condition;
    /**
     * Why there is no session; while there is one, why something that is watched is not subscribed
     * to. Outside browsers its `cause` is the error of the runtime, such as ECONNREFUSED.
     */
    get error(): PorchlightError | undefined;
    /** When the next attempt to connect begins, in milliseconds since 1970, if it is waited for. */
    get nextAttempt(): number | undefined;
    /** The account of the first login, which is that of all others; undefined before it. */
    get account(): string | undefined;
    /**
     * The presence of the account itself, as others see it; undefined before the first login. From
     * the first use on it is watched, and a `change` event follows each change.
     */
    get me(): Readonly<import("./topics.js").PresenceMembers> | undefined;
    /**
     * A live map from accounts to what is known of them.
     * @param {string | Iterable<string>} accounts
     * @param {{ type?: number }} options `type`: 1 is presence; 100 to 65535 are the app's own
     */
    watch(accounts: string | Iterable<string>, { type }?: {
        type?: number;
    }): Watch;
    /**
     * Sets the status of the account. It waits for a session if there is none; the last call for a
     * type wins.
     * @param {number} value 10000 to 2147483647
     * @param {StatusOptions} options
     * @returns {Promise<void>} when the service has confirmed it
     */
    setStatus(value: number, { type, text, seconds, durable, whileOnline }?: StatusOptions): Promise<void>;
    /**
     * Clears the status of the account.
     * @param {{ type?: number }} options
     * @returns {Promise<void>} when the service has confirmed it
     */
    clearStatus({ type }?: {
        type?: number;
    }): Promise<void>;
    /**
     * Sets how this device presents itself; what is omitted gets its default. It ends with the
     * session, and is set again in the next one. The last call wins.
     * @param {Availability} availability
     * @returns {Promise<void>} when the service has confirmed it
     */
    setAvailability({ show, text, priority }?: Availability): Promise<void>;
    /**
     * Sets which subscribers see the account. It belongs to the account, and stays until it is changed.
     * @param {Visibility | "default"} visibility `open`: all; `approved`: accounts whose request it has
     *   accepted; `hidden`: none; `default`: as the service says
     * @returns {Promise<Visibility>} the one in force, when it is on disk
     */
    setVisibility(visibility: Visibility | "default"): Promise<Visibility>;
    /**
     * Sends a message to accounts. It waits for a session if there is none, and is repeated with the
     * same `ref` until it is confirmed or rejected. Messages are sent in the order of the calls.
     * @param {string | Iterable<string>} accounts
     * @param {string | undefined} body
     * @param {MessageOptions} [options]
     * @returns {Promise<import("./outgoing.js").Sent>} when the service has it on disk
     */
    send(accounts: string | Iterable<string>, body: string | undefined, options?: MessageOptions | undefined): Promise<import("./outgoing.js").Sent>;
    /**
     * Sets what the service knows of this device: what is given replaces what it knew, and `""` or
     * `[]` removes. It waits for a session if there is none.
     * @param {Labels} labels
     * @returns {Promise<import("./outgoing.js").DeviceLabels>} all of it, when it is on disk
     */
    setDevice(labels: Labels): Promise<import("./outgoing.js").DeviceLabels>;
    /**
     * Has the service push the messages to this browser that no device has taken in time. Call it
     * when the user has clicked: browsers then ask whether notifications are allowed. The page needs
     * a service worker that shows them, and the service its `push-key`.
     * @returns {Promise<void>} when the service knows the push address
     */
    enablePush(): Promise<void>;
    /**
     * Ends push messages to this browser, as before a logout.
     * @returns {Promise<void>} when the service has forgotten the push address
     */
    disablePush(): Promise<void>;
    /**
     * The messages for the account, each once, for `for await`. It ends with the client, or when
     * another loop begins. A message is taken, and not sent to this account again, when the loop asks
     * for the next one. It needs the option `messages`.
     * @param {LoopOptions} [options]
     * @returns {AsyncGenerator<import("./incoming.js").Message, void, void>}
     */
    messages(options?: LoopOptions | undefined): AsyncGenerator<Readonly<import("./incoming.js").MessageMembers>, void, void>;
    /**
     * The contacts of the account: a live map. It needs the option `contacts`.
     * @returns {Promise<import("./contacts.js").Contacts>}
     */
    contacts(): Promise<import("./contacts.js").Contacts>;
    /**
     * Ends the session, permanently.
     * @param {{ logout?: boolean }} options `logout`: subscribers see it immediately (default);
     *   `false`: they see a lost connection, after the grace of the service
     */
    close({ logout }?: {
        logout?: boolean;
    }): void;
    /**
     * Connects now instead of at `nextAttempt`, unless the service has asked to wait; while
     * connected, finds out soon whether the connection lives.
     */
    reconnect(): void;
    #private;
}
export type Options = {
    /**
     * a signed token of the account, or
     * how to get a new one; it is called for each login, and before the token expires. If it throws a
     * `SignedOut`, the client is closed
     */
    token?: string | (() => string | Promise<string>) | undefined;
    /**
     * the account, for a service with `--auth open`
     */
    account?: string | undefined;
    /**
     * the name of this device, which should stay the same for as long as
     * the app is installed; in a browser each tab gets one by itself
     */
    device?: string | undefined;
    /**
     * the kind of client: `web`, `ios`, `linux` ...
     */
    client?: string | undefined;
    /**
     * the device receives push messages while not connected
     */
    pushReachable?: boolean | undefined;
    /**
     * the session receives the messages for the
     * account: `messages()`; with `{ sent: true }` also what its other sessions send
     */
    messages?: boolean | {
        sent: boolean;
    } | undefined;
    /**
     * the session is told of the contacts of the account: `contacts()`
     */
    contacts?: boolean | undefined;
    /**
     * how long subscriptions last if they are not renewed
     */
    leaseSeconds?: number | undefined;
    /**
     * in a browser: this device is shown as away while nothing is done in
     * the page
     */
    away?: AwayOptions | undefined;
    /**
     * `true`: the console says what happens; or
     * what is given each line instead. Tokens, texts and messages are not part of it
     */
    debug?: boolean | ((text: string) => void) | undefined;
    /**
     * for `porchlights://` in Node, Deno and Bun
     */
    tls?: TLSOptions | undefined;
};
export type AwayOptions = {
    /**
     * after how many seconds without activity (default: 300)
     */
    after?: number | undefined;
};
export type TLSOptions = {
    /**
     * certificates in PEM to trust,
     * instead of those of the runtime
     */
    ca?: string | Uint8Array | (string | Uint8Array)[] | undefined;
    /**
     * the name that the certificate must have, if it is not the URL's
     */
    servername?: string | undefined;
};
export type StatusOptions = {
    /**
     * 1 is presence (default); 100 to 65535 are the app's own
     */
    type?: number | undefined;
    /**
     * accompanies the value
     */
    text?: string | undefined;
    /**
     * how long it lasts, 60 to 604800 (default: 604800, a week)
     */
    seconds?: number | undefined;
    /**
     * it survives a crash of the service from its confirmation on
     */
    durable?: boolean | undefined;
    /**
     * it ends with this session: `close()` clears it, and 10 minutes
     * after a connection was lost it expires. `seconds` has no effect
     */
    whileOnline?: boolean | undefined;
};
export type LoopOptions = {
    /**
     * also what other sessions of the account have sent, and app servers for
     * it, as messages with `own`
     */
    own?: boolean | undefined;
};
export type Labels = {
    /**
     * by which app servers send to the device
     */
    alias?: string | undefined;
    /**
     * the same
     */
    tags?: string | Iterable<string> | undefined;
    /**
     * where push messages reach it
     */
    pushAddress?: string | undefined;
};
/**
 * How a device presents itself.
 */
export type Availability = {
    /**
     * `xa`: away for a long time; `dnd`:
     * do not disturb (default: `available`)
     */
    show?: "chat" | "away" | "xa" | "dnd" | "available" | undefined;
    /**
     * what the user says about it, at most 1024 bytes
     */
    text?: string | undefined;
    /**
     * -128 to 127 (default: 0): the device with the highest is preferred
     */
    priority?: number | undefined;
};
export type Visibility = "open" | "approved" | "hidden";
export type MessageOptions = {
    /**
     * for the app
     */
    ext?: string | undefined;
    /**
     * for how many seconds the message waits, from the call on: 60 to
     * 2592000 (default: 604800, a week)
     */
    expiry?: number | undefined;
    /**
     * only for this device of the only recipient
     */
    device?: string | undefined;
    /**
     * the `stanzaId` of a message of an XMPP client that asks for a receipt:
     * it has arrived. `body` may then be left out
     */
    receipt?: string | undefined;
    /**
     * the sender's own name of the message, at most 64 bytes, by which
     * recipients find repeats (default: a random one)
     */
    ref?: string | undefined;
};
/**
 * `connecting`: for the first time or again; `connected`: logged in; `waiting`: until the next
 * attempt; `closed`: there will be none.
 */
export type Condition = "connecting" | "connected" | "waiting" | "closed";
export type Environment = import("./connection.js").Environment;
export type Presence = import("./topics.js").Presence;
export type Changing = import("./watch.js").Changing<Event>;
import { PorchlightError } from "./error.js";
import { Watch } from "./watch.js";
export {};
