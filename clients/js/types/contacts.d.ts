/**
 * Use `contacts()` of a Porchlight.
 * @param {Hooks} hooks
 * @param {import("./porchlight.js").Options} options
 */
export function begin(hooks: Hooks, options: import("./porchlight.js").Options): ContactPart;
declare const Contacts_base: new () => ContactTarget;
/** The contacts of the account, and the accounts that ask: a live map, with what is known of them. */
export class Contacts extends Contacts_base {
    /**
     * Use `contacts()` of a Porchlight.
     * @param {Hooks} hooks
     */
    constructor(hooks: Hooks);
    /** How many there are, with accounts that only ask. */
    get size(): number;
    /**
     * A contact: the same object until something changes; undefined if it is none.
     * @param {string} account
     * @returns {Contact | undefined}
     */
    get(account: string): Readonly<ContactMembers> | undefined;
    /**
     * Whether the account is a contact or asks.
     * @param {string} account
     */
    has(account: string): boolean;
    /** The accounts. */
    keys(): IterableIterator<string>;
    /** The contacts. @returns {IterableIterator<Contact>} */
    values(): IterableIterator<Readonly<ContactMembers>>;
    /** Each account, and its contact. @returns {IterableIterator<[string, Contact]>} */
    entries(): IterableIterator<[string, Readonly<ContactMembers>]>;
    /**
     * Calls a function with each contact, its account and this map.
     * @param {(contact: Contact, account: string, contacts: Contacts) => void} action
     * @param {unknown} [self] its `this`
     */
    forEach(action: (contact: Contact, account: string, contacts: Contacts) => void, self?: unknown): void;
    /**
     * Resolves with `true` when they are listed, with `false` if the client is closed or the service
     * rejects the list.
     * @returns {Promise<boolean>}
     */
    get ready(): Promise<boolean>;
    /**
     * Asks to see an account.
     * @param {string} account
     * @param {{ text?: string }} [options] `text`: a message to it, at most 512 bytes
     * @returns {Promise<Contact | undefined>} as it is when both sides are on disk
     */
    request(account: string, options?: {
        text?: string | undefined;
    } | undefined): Promise<Readonly<ContactMembers> | undefined>;
    /**
     * Withdraws a request, or ends that this account sees the contact.
     * @param {string} account
     */
    cancel(account: string): Promise<Readonly<ContactMembers> | undefined>;
    /**
     * Has a contact see this account; before it has asked: accepts its next request.
     * @param {string} account
     */
    accept(account: string): Promise<Readonly<ContactMembers> | undefined>;
    /**
     * Rejects a request, or ends that the contact sees this account.
     * @param {string} account
     */
    deny(account: string): Promise<Readonly<ContactMembers> | undefined>;
    /**
     * Sets what this account calls a contact, and its groups; what is omitted is removed.
     * @param {string} account
     * @param {{ name?: string, groups?: Iterable<string> }} [options]
     */
    describe(account: string, options?: {
        name?: string | undefined;
        groups?: Iterable<string> | undefined;
    } | undefined): Promise<Readonly<ContactMembers> | undefined>;
    /**
     * Ends both directions, and forgets the contact. It resolves also if it was none.
     * @param {string} account
     * @returns {Promise<void>}
     */
    remove(account: string): Promise<void>;
    /**
     * What the client is given of it: not for apps.
     * @returns {ContactPart}
     */
    part(): ContactPart;
    /** The same as `entries()`. @returns {IterableIterator<[string, Contact]>} */
    [Symbol.iterator](): IterableIterator<[string, Readonly<ContactMembers>]>;
    #private;
}
export type Hooks = import("./connection.js").Hooks;
export type Part = import("./connection.js").Part;
export type Presence = import("./topics.js").Presence;
export type Listing = {
    /**
     * the contacts
     */
    list: () => Contacts;
};
export type ContactPart = Part & Listing;
export type ContactMembers = {
    /**
     * its name
     */
    account: string;
    /**
     * `to`: this account sees the contact;
     * `from`: the contact sees this account
     */
    subscription: "none" | "to" | "from" | "both";
    /**
     * this account has asked to see the contact, which has not answered
     */
    ask?: true | undefined;
    /**
     * the next request of the contact is accepted immediately
     */
    preapproved?: true | undefined;
    /**
     * the contact has asked to see this account
     */
    request?: {
        readonly text?: string | undefined;
    } | undefined;
    /**
     * what this account calls the contact
     */
    name?: string | undefined;
    /**
     * those of the contact
     */
    groups?: readonly string[] | undefined;
    /**
     * it is not a contact, but an account that asks
     */
    listed?: false | undefined;
    /**
     * what is known of it, if this account sees it
     */
    presence?: Readonly<import("./topics.js").PresenceMembers> | undefined;
};
/**
 * A contact. It never changes: a change makes a new one.
 */
export type Contact = Readonly<ContactMembers>;
/**
 * What has changed: the new contact of each account, or undefined if it is none any more.
 */
export type ContactChanges = ReadonlyMap<string, Contact | undefined>;
export type ContactAction = {
    /**
     * the other account
     */
    account: string;
    /**
     * what it did
     */
    action: "request" | "cancel" | "accept" | "deny";
};
export type ContactEvents = {
    /**
     * contacts have changed
     */
    change: CustomEvent<ContactChanges>;
    /**
     * another account has done something
     */
    action: CustomEvent<ContactAction>;
};
export type ContactTarget = {
    addEventListener: <Type extends keyof ContactEvents>(type: Type, listener: ((event: ContactEvents[Type]) => void) | null, options?: boolean | AddEventListenerOptions) => void;
    removeEventListener: <Type_1 extends keyof ContactEvents>(type: Type_1, listener: ((event: ContactEvents[Type_1]) => void) | null, options?: boolean | EventListenerOptions) => void;
    dispatchEvent: (event: Event) => boolean;
};
export {};
