// @ts-check
import { isTransient } from "./error.js";
import { Outgoing } from "./outgoing.js";
import { PRESENCE, Topics } from "./topics.js";

/** @typedef {import("./connection.js").Hooks} Hooks */
/** @typedef {import("./connection.js").Part} Part */
/** @typedef {import("./topics.js").Presence} Presence */

/**
 * @typedef {object} Listing
 * @property {() => Contacts} list the contacts
 */

/** @typedef {Part & Listing} ContactPart */

/**
 * @typedef {object} ContactMembers
 * @property {string} account its name
 * @property {"none" | "to" | "from" | "both"} subscription `to`: this account sees the contact;
 *   `from`: the contact sees this account
 * @property {true} [ask] this account has asked to see the contact, which has not answered
 * @property {true} [preapproved] the next request of the contact is accepted immediately
 * @property {{ readonly text?: string }} [request] the contact has asked to see this account
 * @property {string} [name] what this account calls the contact
 * @property {readonly string[]} [groups] those of the contact
 * @property {false} [listed] it is not a contact, but an account that asks
 * @property {Presence} [presence] what is known of it, if this account sees it
 */

/**
 * A contact. It never changes: a change makes a new one.
 * @typedef {Readonly<ContactMembers>} Contact
 */

/** What has changed: the new contact of each account, or undefined if it is none any more.
 * @typedef {ReadonlyMap<string, Contact | undefined>} ContactChanges */

/**
 * @typedef {object} ContactAction
 * @property {string} account the other account
 * @property {"request" | "cancel" | "accept" | "deny"} action what it did
 */

/**
 * @typedef {object} ContactEvents
 * @property {CustomEvent<ContactChanges>} change contacts have changed
 * @property {CustomEvent<ContactAction>} action another account has done something
 */

/**
 * @typedef {object} ContactTarget
 * @property {<Type extends keyof ContactEvents>(type: Type,
 *   listener: ((event: ContactEvents[Type]) => void) | null,
 *   options?: boolean | AddEventListenerOptions) => void} addEventListener
 * @property {<Type extends keyof ContactEvents>(type: Type,
 *   listener: ((event: ContactEvents[Type]) => void) | null,
 *   options?: boolean | EventListenerOptions) => void} removeEventListener
 * @property {(event: Event) => boolean} dispatchEvent
 */

const Target = /** @type {new () => ContactTarget} */ (/** @type {unknown} */ (EventTarget));

/** Contacts in one response. */
const PAGE = 1_000;
/** Events of accounts that are no contacts which are kept when the list is known. */
const EVENTS_MAX = 1_000;

/** The contacts of the account, and the accounts that ask: a live map, with what is known of them. */
export class Contacts extends Target {
  #hooks;
  #outgoing;
  /** @type {Map<string, Contact>} */ #map = new Map();
  /** Presence of contacts needs no subscription: nothing here is ever due. */
  #topics = new Topics();
  /** The newest event of each publisher that is no contact, or may be one that is not listed yet. */
  /** @type {Map<string, any>} */ #events = new Map();
  /** @type {Map<string, Contact | undefined> | undefined} */ #changes;
  /** What has arrived while they are being listed. */
  /** @type {any[] | undefined} */ #late;
  /** What other accounts have done that is not in the list yet. */
  /** @type {ContactAction[]} */ #actions = [];
  /** They were listed in this session. */
  #isListed = false;
  #isKnown = false;
  #isOver = false;
  #cancel = () => {};
  /** @type {Set<() => void>} */ #looks = new Set();
  /** @type {(presence: Presence) => void} */
  #observe = (presence) => {
    const contact = this.#map.get(presence.account);
    if (contact) this.#set({ ...contact, presence });
  };

  /**
   * Use `contacts()` of a Porchlight.
   * @param {Hooks} hooks
   */
  constructor(hooks) {
    super();
    this.#hooks = hooks;
    const { environment, subscriber, request, wake, PorchlightError } = hooks;
    this.#outgoing = new Outgoing(environment, subscriber, request, wake, PorchlightError);
  }

  /** How many there are, with accounts that only ask. */
  get size() {
    return this.#map.size;
  }

  /**
   * A contact: the same object until something changes; undefined if it is none.
   * @param {string} account
   * @returns {Contact | undefined}
   */
  get(account) {
    return this.#map.get(account);
  }

  /**
   * Whether the account is a contact or asks.
   * @param {string} account
   */
  has(account) {
    return this.#map.has(account);
  }

  /** The accounts. */
  keys() {
    return this.#map.keys();
  }

  /** The contacts. @returns {IterableIterator<Contact>} */
  values() {
    return this.#map.values();
  }

  /** Each account, and its contact. @returns {IterableIterator<[string, Contact]>} */
  entries() {
    return this.#map.entries();
  }

  /** The same as `entries()`. @returns {IterableIterator<[string, Contact]>} */
  [Symbol.iterator]() {
    return this.entries();
  }

  /**
   * Calls a function with each contact, its account and this map.
   * @param {(contact: Contact, account: string, contacts: Contacts) => void} action
   * @param {unknown} [self] its `this`
   */
  forEach(action, self) {
    this.#map.forEach((contact, account) => action.call(self, contact, account, this));
  }

  /**
   * Resolves with `true` when they are listed, with `false` if the client is closed or the service
   * rejects the list.
   * @returns {Promise<boolean>}
   */
  get ready() {
    return this.#when(() => this.#isKnown).then(() => this.#isKnown);
  }

  /**
   * Asks to see an account.
   * @param {string} account
   * @param {{ text?: string }} [options] `text`: a message to it, at most 512 bytes
   * @returns {Promise<Contact | undefined>} as it is when both sides are on disk
   */
  request(account, options) {
    return this.#relate(account, "request", { text: options?.text });
  }

  /**
   * Withdraws a request, or ends that this account sees the contact.
   * @param {string} account
   */
  cancel(account) {
    return this.#relate(account, "cancel");
  }

  /**
   * Has a contact see this account; before it has asked: accepts its next request.
   * @param {string} account
   */
  accept(account) {
    return this.#relate(account, "accept");
  }

  /**
   * Rejects a request, or ends that the contact sees this account.
   * @param {string} account
   */
  deny(account) {
    return this.#relate(account, "deny");
  }

  /**
   * Sets what this account calls a contact, and its groups; what is omitted is removed.
   * @param {string} account
   * @param {{ name?: string, groups?: Iterable<string> }} [options]
   */
  describe(account, options = {}) {
    const { name, groups } = options;
    return this.#relate(account, "describe", { name, groups: groups && [...groups] });
  }

  /**
   * Ends both directions, and forgets the contact. It resolves also if it was none.
   * @param {string} account
   * @returns {Promise<void>}
   */
  async remove(account) {
    try {
      await this.#relate(account, "remove");
    } catch (/** @type {any} */ error) {
      // Or it is repeated, because the response was lost.
      if (error.reason !== "unknown_contact") throw error;
    }
  }

  /**
   * What the client is given of it: not for apps.
   * @returns {ContactPart}
   */
  part() {
    return {
      list: () => this,
      send: () => {
        if (!this.#isListed) this.#list();
        this.#outgoing.send();
      },
      lose: () => this.#lose(),
      stop: (error) => {
        this.#cancel();
        this.#outgoing.end(error);
        this.#isOver = true;
        this.#look();
      },
      notified: (method, params) => this.#notified(method, params),
    };
  }

  /**
   * @param {string} contact
   * @param {string} action
   * @param {object} [options]
   * @returns {Promise<Contact | undefined>}
   */
  async #relate(contact, action, options) {
    const result = await this.#outgoing.call("relate", { contact, action, ...options });
    this.#take(result.contact);
    // While they are being listed, the map is old.
    const isCurrent = () => this.#isListed && !this.#late;
    await this.#when(isCurrent);
    return isCurrent() ? this.#map.get(contact) : Object.freeze(result.contact);
  }

  /**
   * Waits until something is true, or will never be.
   * @param {() => boolean} isTrue
   * @returns {Promise<void>}
   */
  #when(isTrue) {
    return new Promise((resolve) => {
      const look = () => {
        if (!isTrue() && !this.#isOver) return;
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
    });
  }

  /** Asks for all of them, page by page. What changes meanwhile is taken afterwards. */
  #list() {
    this.#isListed = true;
    const late = (this.#late = /** @type {any[]} */ ([]));
    /** @type {any[]} */ const all = [];
    /** @type {(cursor?: string) => void} */
    const page = (cursor) => this.#hooks.request("contacts", { limit: PAGE, cursor }, (result) => {
      if (late !== this.#late) return;
      all.push(...result.contacts);
      if (result.cursor) return page(result.cursor);
      const names = new Set(all.map(({ account }) => account));
      for (const account of [...this.#map.keys()]) if (!names.has(account)) this.#remove(account);
      this.#isKnown = true;
      this.#listed([...all, ...late]);
    }, (error) => {
      if (late !== this.#late) return;
      if (isTransient(error)) {
        const pause = this.#hooks.subscriber.pause(error.data);
        this.#cancel = this.#hooks.environment.after(pause, () => this.#list());
      } else {
        this.#isOver = true;
        this.#listed(late);
      }
    });
    page();
  }

  /**
   * The list has ended.
   * @param {any[]} contacts
   */
  #listed(contacts) {
    this.#late = undefined;
    for (const contact of contacts) this.#take(contact);
    for (const action of this.#actions.splice(0)) this.#act(action);
    this.#forget();
    this.#look();
  }

  /** @param {ContactAction} detail */
  #act(detail) {
    queueMicrotask(() => this.dispatchEvent(new CustomEvent("action", { detail })));
  }

  #lose() {
    this.#cancel();
    this.#isListed = false;
    this.#late = undefined;
    this.#events.clear();
    this.#topics.lose();
    this.#outgoing.lose();
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  #notified(method, params) {
    if (method === "contact") {
      const { contact, action } = params;
      this.#take(contact);
      if (!action) return;
      const done = { account: contact.account, action };
      if (this.#late) this.#actions.push(done);
      else this.#act(done);
    } else if (method === "events") {
      for (const event of params.events) this.#event(event);
    }
  }

  /** @param {any} event */
  #event(event) {
    if (event.type !== PRESENCE) return;
    if (this.#map.get(event.publisher)?.presence) this.#topics.apply(event);
    else {
      this.#events.delete(event.publisher); // The newest is the last.
      this.#events.set(event.publisher, event);
      if (this.#isListed && !this.#late) this.#forget();
    }
  }

  /** The app watches accounts that are no contacts, and some may never be. */
  #forget() {
    for (const account of this.#events.keys()) {
      if (this.#events.size <= EVENTS_MAX) return;
      this.#events.delete(account);
    }
  }

  /**
   * A contact as it is now.
   * @param {any} contact
   */
  #take(contact) {
    if (this.#late) return this.#late.push(contact);
    const { account, subscription, listed, request } = contact;
    if (listed === false && !request) return this.#remove(account);
    const isSeen = subscription === "to" || subscription === "both";
    if (!isSeen) this.#leave(account);
    const presence = isSeen
      ? this.#map.get(account)?.presence ?? this.#topics.want(PRESENCE, account, this.#observe)
      : undefined;
    this.#set({ ...contact, presence });
    const event = this.#events.get(account);
    this.#events.delete(account);
    if (isSeen && event) this.#topics.apply(event);
  }

  /** @param {string} account that is not seen any more */
  #leave(account) {
    this.#topics.leave(PRESENCE, account, this.#observe);
    this.#topics.forget(0);
  }

  /** @param {Contact} contact */
  #set(contact) {
    const { account } = contact;
    const known = this.#map.get(account);
    // A list repeats what is known: no change.
    if (known && JSON.stringify(known) === JSON.stringify(contact)) return;
    this.#map.set(account, Object.freeze(contact));
    this.#change(account, contact);
  }

  /** @param {string} account */
  #remove(account) {
    this.#leave(account);
    if (this.#map.delete(account)) this.#change(account, undefined);
  }

  /**
   * Gathers the changes of a turn into one event.
   * @param {string} account
   * @param {Contact | undefined} contact
   */
  #change(account, contact) {
    if (!this.#changes) {
      this.#changes = new Map();
      queueMicrotask(() => {
        const detail = this.#changes;
        this.#changes = undefined;
        this.dispatchEvent(new CustomEvent("change", { detail }));
      });
    }
    this.#changes.set(account, contact);
  }

  #look() {
    for (const look of this.#looks) look();
  }
}

/**
 * Use `contacts()` of a Porchlight.
 * @param {Hooks} hooks
 * @param {import("./porchlight.js").Options} options
 */
export function begin(hooks, options) {
  if (!options.contacts) throw new TypeError("The option `contacts` is not set.");
  return new Contacts(hooks).part();
}
