// @ts-check
import { follower, unknown } from "./follow.js";

/** @typedef {import("./porchlight.js").Porchlight} Porchlight */
/** @typedef {import("./topics.js").Presence} Presence */

/** Where there is no page, as on a server, the element is a class that nothing creates. */
const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

/** Each state has a shape of its own, so that nothing depends on a colour. */
const STYLE = `
  :host { display: inline-block; }
  [part~=dot] {
    display: inline-block; box-sizing: border-box; width: .7em; height: .7em; border-radius: 50%;
    border: .12em solid currentColor; color: var(--porchlight-offline, #6e7781);
    forced-color-adjust: none;
  }
  [part~=online] { color: var(--porchlight-online, #1a7f37); background: currentColor; }
  [part~=away] {
    color: var(--porchlight-away, #9a6700);
    background: linear-gradient(to right, currentColor 50%, transparent 50%);
  }
  [part~=unknown] { border-style: dotted; }
  [part~=old] { opacity: .5; }
  [part~=text] {
    position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
    white-space: nowrap;
  }
  :host([show-text]) [part~=text] {
    position: static; width: auto; height: auto; overflow: visible; clip-path: none;
    margin-inline-start: .3em;
  }
  @media (forced-colors: active) { [part~=dot] { color: CanvasText; } }
`;

/** @type {CSSStyleSheet | undefined} */ let sheet;

/** One sheet for all. A page's policy need not allow styles in the page for it. */
const style = () => {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
  }
  return sheet;
};

/** That of all dots. */
/** @type {Porchlight | null} */ let used = null;
/** Those that are in the page. */
/** @type {Set<PorchlightDot>} */ const dots = new Set();

/**
 * `<porchlight-dot account="bob">`: whether an account is online, as a dot and as a text for screen
 * readers, which `show-text` shows to all. Its parts are `dot` and `text`; the dot also has the part
 * `online`, `away`, `offline` or `unknown`, and `old` if what it shows may be.
 */
export class PorchlightDot extends Base {
  static observedAttributes = ["account"];

  /**
   * What a dot says. Set it for another language.
   * @type {(presence: Presence) => string}
   */
  static text = ({ is, live, status }) =>
    [is, status?.text, is !== "unknown" && !live && "may be old"].filter(Boolean).join(", ");

  #dot;
  #text;
  #stop = () => {};
  /** @type {Presence} */ #presence = unknown("");

  /**
   * Has all dots of the page show what a client knows.
   * @param {Porchlight | null} client which the app connects and closes; `null` for none
   */
  static use(client) {
    used = client;
    for (const dot of dots) dot.#begin();
  }

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [style()];
    this.#dot = document.createElement("span");
    this.#dot.setAttribute("aria-hidden", "true");
    this.#text = document.createElement("span");
    this.#text.setAttribute("part", "text");
    root.append(this.#dot, this.#text);
  }

  /** The account that it shows: the attribute of this name. */
  get account() {
    return this.getAttribute("account") ?? "";
  }

  set account(account) {
    this.setAttribute("account", account);
  }

  /** What is known of the account. */
  get presence() {
    return this.#presence;
  }

  connectedCallback() {
    // A framework may have set the property before this class was there.
    if (Object.hasOwn(this, "account")) {
      const { account } = this;
      // @ts-expect-error It hides that of the class.
      delete this.account;
      this.account = account;
    }
    dots.add(this);
    this.#begin();
  }

  disconnectedCallback() {
    dots.delete(this);
    this.#stop();
  }

  attributeChangedCallback() {
    if (dots.has(this)) this.#begin();
  }

  #begin() {
    this.#stop();
    const { account } = this;
    const all = used && account ? follower(used) : undefined;
    const draw = () => this.#draw(all?.get(account) ?? unknown(account));
    this.#stop = all?.add(account, draw) ?? (() => {});
    draw();
  }

  /** @param {Presence} presence */
  #draw(presence) {
    this.#presence = presence;
    const { is, live } = presence;
    const text = PorchlightDot.text(presence);
    this.#dot.setAttribute("part", `dot ${is}${live || is === "unknown" ? "" : " old"}`);
    this.#dot.title = text;
    this.#text.textContent = text;
  }
}

if (globalThis.customElements && !customElements.get("porchlight-dot")) {
  customElements.define("porchlight-dot", PorchlightDot);
}
