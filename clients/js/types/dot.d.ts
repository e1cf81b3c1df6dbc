/**
 * `<porchlight-dot account="bob">`: whether an account is online, as a dot and as a text for screen
 * readers, which `show-text` shows to all. Its parts are `dot` and `text`; the dot also has the part
 * `online`, `away`, `offline` or `unknown`, and `old` if what it shows may be.
 */
export class PorchlightDot extends HTMLElement {
    static observedAttributes: string[];
    /**
     * What a dot says. Set it for another language.
     * @type {(presence: Presence) => string}
     */
    static text: (presence: Presence) => string;
    /**
     * Has all dots of the page show what a client knows.
     * @param {Porchlight | null} client which the app connects and closes; `null` for none
     */
    static use(client: Porchlight | null): void;
    set account(arg: string);
    /** The account that it shows: the attribute of this name. */
    get account(): string;
    /** What is known of the account. */
    get presence(): Readonly<import("./topics.js").PresenceMembers>;
    connectedCallback(): void;
    disconnectedCallback(): void;
    attributeChangedCallback(): void;
    #private;
}
export type Porchlight = import("./porchlight.js").Porchlight;
export type Presence = import("./topics.js").Presence;
