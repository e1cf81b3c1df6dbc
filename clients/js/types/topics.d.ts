/** The type of presence: whether an account is online, and its status. */
export const PRESENCE: 1;
/** The topics that are wanted, and those that were and may still have a subscription. */
export class Topics {
    /** What to call when no more changes will follow, or something is not subscribed to. */
    /** @type {Set<() => void>} */ looks: Set<() => void>;
    isOver: boolean;
    /** No more changes will follow. */
    end(): void;
    look(): void;
    /**
     * Adds an observer, which is given each change, and returns what is known.
     * @param {number} type
     * @param {string} account
     * @param {Observer} observer
     */
    want(type: number, account: string, observer: Observer): Readonly<PresenceMembers>;
    /**
     * Removes an observer. Nothing is unsubscribed: a subscription is the account's, and another of
     * its devices may need it. But it is no longer renewed.
     * @param {number} type
     * @param {string} account
     * @param {Observer} observer
     */
    leave(type: number, account: string, observer: Observer): void;
    /**
     * Takes an event or a state, unless a newer one is known from this session. A service that has
     * lost its database numbers from the beginning again.
     * @param {any} event as in the protocol
     */
    apply({ type, publisher, seq, cause, online, status, lastSeen }: any): void;
    /**
     * Takes topics of one type to subscribe to now.
     * @param {number} now
     * @param {number} countMax
     * @returns {Topic[]}
     */
    takeDue(now: number, countMax: number): Topic[];
    /** When to subscribe next. */
    nextDue(): number;
    /**
     * Removes topics of one type that are subscribed to and not wanted, and returns them.
     * @param {number} now
     * @param {number} countMax
     * @returns {Topic[]}
     */
    takeIdle(now: number, countMax: number): Topic[];
    /**
     * Subscriptions have ended.
     * @param {number} type
     * @param {string[]} accounts
     * @param {number} now
     * @param {number} [next] another program has ended them: when to request them if it did so
     *   a short time before
     */
    expire(type: number, accounts: string[], now: number, next?: number | undefined): void;
    /** The connection was lost: nothing is current, and no request will be answered. */
    lose(): void;
    /**
     * How many of the wanted topics have a subscription that lasts longer; all, with -1.
     * @param {number} now
     */
    count(now: number): number;
    /** Why something that is wanted is not subscribed to. */
    get error(): import("./error.js").PorchlightError | undefined;
    /**
     * Whether the service has answered, for good or for now: with a state, or with a rejection.
     * @param {Presence} presence
     */
    isKnown({ type, account, cause }: Readonly<PresenceMembers>): boolean;
    /** Asks for what is not current as soon as possible. */
    refresh(): void;
    /**
     * Forgets what is neither wanted nor subscribed to.
     * @param {number} now
     */
    forget(now: number): void;
    #private;
}
/**
 * A device on which an account is logged in.
 */
export type Device = {
    /**
     * the kind of client: `web`, `ios` ...
     */
    client: string;
    /**
     * its name
     */
    device: string;
    /**
     * it is not connected and only push-reachable
     */
    push?: boolean | undefined;
    /**
     * how it presents itself; absent: available
     */
    show?: "chat" | "away" | "xa" | "dnd" | undefined;
    /**
     * what the user says about it
     */
    text?: string | undefined;
    /**
     * absent: 0
     */
    priority?: number | undefined;
};
export type Status = {
    /**
     * the app's own, from 10000 up
     */
    value: number;
    /**
     * what accompanies it
     */
    text?: string | undefined;
    /**
     * in milliseconds since 1970
     */
    expires: number;
};
/**
 * What is known of an account. It never changes: a change makes a new one.
 */
export type Presence = Readonly<PresenceMembers>;
export type PresenceMembers = {
    account: string;
    type: number;
    /**
     * `away`: online, and away on each
     * connected device; `unknown` until the service has answered, and for types from 100 up, which do
     * not say it
     */
    is: "online" | "away" | "offline" | "unknown";
    /**
     * it is current; false: it may be old, or nothing is known yet
     */
    live: boolean;
    /**
     * in order of login
     */
    devices: readonly Device[];
    /**
     * what the account has set, if it has not expired
     */
    status?: Status | undefined;
    /**
     * in milliseconds since 1970; absent while online or if never seen
     */
    lastSeen?: number | undefined;
    /**
     * of the last change: `login`, `logout`, `publish` ...
     */
    cause?: string | undefined;
};
export type Observer = (presence: Presence) => void;
/**
 * The state of one publisher and type, and when to subscribe to it.
 */
export type Topic = {
    presence: Presence;
    seq: number;
    /**
     * in which it was received: in another, a lower one is a new history
     */
    session?: number | undefined;
    /**
     * when to subscribe next; Infinity while a request is unanswered
     */
    due: number;
    /**
     * when the subscription expires; 0 without one
     */
    until: number;
    /**
     * until when it is not requested at once if another program ends it
     */
    calm: number;
    /**
     * why it is not subscribed to
     */
    error?: import("./error.js").PorchlightError | undefined;
    observers: Set<Observer>;
};
