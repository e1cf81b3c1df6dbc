// What the two fields answer with: the card of an account, and why an account sees another.

import { Problem, accountPath, call } from "./api.js";
import {
  accountHash, accountLink, clock, dot, duration, element, fill, find, moment, number, say, visible,
  whyHash,
} from "./page.js";

const EVERY = 5_000; // milliseconds between two looks at an account
const AFTER = 1_000; // and after an event of it
const PAGE = 50; // names that one request lists
const LISTED = 500; // names that a list shows at most

const connections = {
  connected: "connected",
  grace: "lost a moment ago",
  push: "by push only",
  restart: "not back since the restart",
  hidden: "hidden: has sent no presence",
};

/** A list of names with its count, which grows by a button. */
class Names {
  #path; #member; #line;
  #list = element("ul", { class: "names" });
  #count = element("small");
  #more = element("button", { class: "quiet", onclick: () => this.load() }, "More");
  #none;
  #cursor;

  constructor(title, account, member, line) {
    this.#path = accountPath(account, member);
    this.#member = member;
    this.#line = line;
    this.#none = element("p", { class: "none", hidden: true }, `No ${member}.`);
    this.node = element("section", { class: "list" },
      element("h3", {}, title, " ", this.#count),
      element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title },
        this.#list, this.#none, this.#more));
  }

  async load() {
    const cursor = this.#cursor ? `&cursor=${encodeURIComponent(this.#cursor)}` : "";
    this.#more.hidden = true;
    try {
      const result = await call(`${this.#path}?limit=${PAGE}${cursor}`);
      this.#list.append(
        ...result[this.#member].map((entry) => element("li", {}, ...this.#line(entry))));
      this.#cursor = result.cursor;
      this.#none.hidden = this.#list.childElementCount > 0;
      const isFull = this.#cursor && this.#list.childElementCount >= LISTED;
      say(this.#count, `${number(result.count)}${isFull ? `, first ${LISTED} shown` : ""}`);
      this.#more.hidden = !this.#cursor || isFull;
    } catch (error) {
      say(this.#none, error.message);
      this.#none.hidden = false;
      this.#more.hidden = false;
    }
  }
}

const closeLink = (href) => element("a", { class: "close", href, "aria-label": "Close" }, "✕");

const why = (account, subscriber, publisher) =>
  element("a", { class: "why", href: whyHash(account, subscriber, publisher),
    "aria-label": `Why does ${visible(subscriber)} see ${visible(publisher)}?` }, "why");

const until = ({ type = 1, expires }) => element("small", {}, `${type === 1 ? "" : `type ${type} `}`
  + `${expires ? `until ${moment(expires).slice(0, -3)}` : "accepted"}`);

class AccountCard {
  #account; #service;
  #isWrong = false; // no account can have this name
  #dot = element("span");
  #summary = element("p", { class: "summary" });
  #table;
  #error = element("p", { class: "error", role: "alert" });
  #note = element("p", { class: "small note" });
  #lists;

  constructor(account, service, closeHash) {
    this.#account = account;
    this.#service = service;
    const name = visible(account);
    const head = ["Device", "State", "Since", "Last heard", "Address"].map((text, index) =>
      element("th", { scope: "col", class: index > 2 ? "wide" : undefined }, text));
    head.push(element("th", { scope: "col" }, element("span", { class: "aside" }, "End")));
    this.#table = element("table", { "aria-label": `Sessions of ${name}` },
      element("thead", {}, element("tr", {}, ...head)), element("tbody"));
    this.node = element("article", { class: "panel card", "aria-labelledby": "card-title" },
      element("div", { class: "title" },
        element("h2", { id: "card-title", tabindex: -1 },
          this.#dot, element("span", { class: "name" }, name)),
        closeLink(closeHash)),
      this.#error);
  }

  get account() { return this.#account; }

  /** What a card has once there is an answer. */
  #complete() {
    const account = this.#account;
    this.#lists = [
      new Names("Watches", account, "subscriptions", (entry) => [accountLink(entry.publisher),
        until(entry), entry.type === 1 && why(account, account, entry.publisher)]),
      new Names("Watched by", account, "subscribers", (entry) => [accountLink(entry.account),
        until(entry), why(account, entry.account, account)]),
      new Names("Contacts", account, "contacts", contactLine),
    ];
    this.node.append(this.#summary, this.#table,
      element("p", { class: "none", hidden: true }, "No sessions."), this.#note,
      element("div", { class: "lists" }, ...this.#lists.map((list) => list.node)));
    for (const list of this.#lists) list.load();
  }

  /** Reads the state and the sessions again. */
  async load() {
    if (this.#isWrong) return;
    try {
      const [state, sessions] = await Promise.all([
        call(accountPath(this.#account, "state")), call(accountPath(this.#account, "sessions")),
      ]);
      say(this.#error, "");
      if (!this.#lists) this.#complete();
      this.#show(state, sessions);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#isWrong = error.status === 422;
      say(this.#error, this.#isWrong ? "No account can have this name. Names have 1 to 128 bytes, "
        + "no control characters, and no space at either end." : error.message);
    }
  }

  #show(state, { sessions, messagesWaiting }) {
    const kind = state.online.length ? "online" : state.value === 0 ? "unknown" : "offline";
    this.#dot.replaceChildren(dot(kind));
    const { status, lastSeen } = state;
    const facts = [element("strong", {}, kind === "unknown" ? "never seen" : kind)];
    if (lastSeen) {
      facts.push(
        `last seen ${moment(lastSeen)}, ${duration(this.#service.now() - lastSeen)} ago`);
    }
    if (status) {
      const { value, ext, expires } = status;
      facts.push(element("span", { class: "name" }, "status ", element("strong", {}, String(value)),
        `${ext === undefined ? "" : ` “${visible(ext)}”`} until ${moment(expires)}`));
    }
    if (messagesWaiting !== undefined) {
      facts.push(messagesWaiting === 1
        ? "1 message waits" : `${number(messagesWaiting)} messages wait`);
    }
    this.#summary.replaceChildren(...facts.map((fact) => element("span", {}, fact)));
    const isReadOnly = this.#service.isReadOnly;
    say(this.#note, isReadOnly && sessions.length
      ? "Sessions cannot be ended with this key: it is read-only." : "");
    fill(this.#table, sessions.map((session) => this.#row(session, state.online, isReadOnly)));
  }

  #row({ device, client, connection, since, lastHeard, address }, online, isReadOnly) {
    const { show, text } = online.find((entry) => entry.device === device) ?? {};
    const presence = [connections[connection] ?? connection, show, text && `“${text}”`];
    return element("tr", {},
      element("th", { scope: "row" }, element("span", { class: "name" }, visible(device)),
        " ", element("small", {}, visible(client))),
      element("td", {}, presence.filter(Boolean).map(visible).join(", ")),
      element("td", { class: "time" }, moment(since)),
      element("td", { class: "wide" }, `${duration(this.#service.now() - lastHeard)} ago`),
      element("td", { class: "wide" }, visible(address)),
      element("td", { class: "action" }, element("button", {
        class: "danger", disabled: isReadOnly,
        "aria-label": `End the session on ${visible(device)}`,
        onclick: () => this.#askToEnd(device),
      }, "End…")));
  }

  #askToEnd(device) {
    const dialog = find("#end");
    const form = find("form", dialog);
    const error = find(".error", dialog);
    const name = (text) => element("strong", { class: "name" }, visible(text));
    find("#end-what").replaceChildren(name(this.#account), " on ", name(device));
    say(error, "");
    form.reason.value = "";
    form.cancel.onclick = () => dialog.close();
    form.onsubmit = async (event) => {
      event.preventDefault();
      const reason = new URLSearchParams({ reason: form.reason.value });
      try {
        const query = form.reason.value ? `?${reason}` : "";
        await call(accountPath(this.#account, "sessions", device) + query, "DELETE");
        dialog.close();
        find("h2", this.node).focus();
        await this.load();
      } catch (problem) {
        say(error, problem.message);
      }
    };
    dialog.showModal();
    form.cancel.focus();
  }
}

function contactLine(entry) {
  const { account, subscription, ask, request, listed, name } = entry;
  const words = [
    { none: "", to: "is seen", from: "sees it", both: "both see each other" }[subscription],
    ask && "asked, no answer yet", request && "asks to see it", listed === false && "not a contact",
    name && `called “${visible(name)}”`,
  ].filter(Boolean);
  return [accountLink(account), element("small", {}, words.join(", "))];
}

/** Lines between empty ones, as a section each. */
function sections(story) {
  const found = [[]];
  for (const line of story) {
    if (line) found.at(-1).push(line);
    else found.push([]);
  }
  return found.filter((lines) => lines.length);
}

function sentence(line) {
  const text = line.trimStart();
  const depth = Math.min(2, Math.floor((line.length - text.length) / 2));
  return element("p", { class: `depth${depth}` }, visible(text));
}

class WhyCard {
  #subscriber; #publisher;
  #text = element("div", { class: "story" }, element("p", { class: "none" }, "…"));
  #time = element("small");

  constructor(subscriber, publisher, closeHash) {
    this.#subscriber = subscriber;
    this.#publisher = publisher;
    this.node = element("article", { class: "panel why-card", "aria-labelledby": "why-title" },
      element("div", { class: "title" },
        element("h2", { id: "why-title", tabindex: -1 }, "Does ",
          element("span", { class: "name" }, visible(subscriber)), " see ",
          element("span", { class: "name" }, visible(publisher)), "?"),
        closeLink(closeHash)),
      this.#text, this.#time,
      element("button", { class: "quiet", onclick: () => this.load() }, "Ask again"));
  }

  async load() {
    const query = new URLSearchParams({ subscriber: this.#subscriber, publisher: this.#publisher });
    try {
      const { story } = await call(`/v1/why?${query}`);
      const [verdict, ...rest] = sections(story);
      const said = verdict.map(visible).join(" ");
      const answer = said.slice(visible(this.#subscriber).length);
      const sign = /^ (sees|does not) /.exec(answer)?.[1] ?? "";
      this.#text.replaceChildren(
        element("p", { class: `verdict ${sign}` }, said),
        element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The facts" },
          ...rest.map((lines) => element("section", {}, ...lines.map(sentence)))));
    } catch (error) {
      this.#text.replaceChildren(element("p", { class: "error", role: "alert" }, error.message));
    }
    say(this.#time, `as of ${clock(Date.now())}`);
  }
}

/** The answers. What is asked is in the address, so that it can be kept. */
export class Answers {
  #service; #card; #timer;
  #isDue = false; // the card is to be read again soon
  #node = find("#answers");

  /** `service`: `{now(), isReadOnly, isLive}`. */
  constructor(service) {
    this.#service = service;
    addEventListener("hashchange", () => this.show());
    for (const id of ["#look", "#ask"]) {
      find(id).addEventListener("submit", (event) => this.#ask(event));
    }
    this.follow(EVERY);
  }

  get #asked() { return new URLSearchParams(location.hash.slice(1)); }

  #ask(event) {
    event.preventDefault();
    const asked = this.#asked;
    for (const [name, text] of new FormData(event.target)) {
      asked.set(name, text.replace(/^ +| +$/g, "")); // no name begins or ends with a space
    }
    if (location.hash === `#${asked}`) this.show();
    else location.hash = asked;
  }

  show() {
    const [account, subscriber, publisher] =
      ["account", "subscriber", "publisher"].map((name) => this.#asked.get(name));
    const isWhy = subscriber !== null && publisher !== null;
    const cards = [];
    this.#card = undefined;
    if (isWhy) {
      cards.push(new WhyCard(subscriber, publisher, account === null ? "#" : accountHash(account)));
      find("#ask").subscriber.value = subscriber;
      find("#ask").publisher.value = publisher;
    }
    if (account !== null) {
      this.#card = new AccountCard(
        account, this.#service, isWhy ? whyHash(null, subscriber, publisher) : "#");
      cards.push(this.#card);
      find("#look").account.value = account;
    }
    this.#node.replaceChildren(...cards.map(({ node }) => node));
    this.#node.hidden = !cards.length;
    for (const card of cards) card.load();
    if (!cards.length) return;
    this.#node.scrollIntoView({ block: "nearest" });
    find("h2", this.#node).focus({ preventScroll: true });
  }

  /** Events have arrived: the card is read again soon if they are of its account. */
  changed(events) {
    const account = this.#card?.account;
    if (this.#isDue || !events.some(({ publisher }) => publisher === account)) return;
    this.#isDue = true;
    this.follow(AFTER);
  }

  /** Reads the card again, after a while and from then on. */
  follow(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      this.#isDue = false;
      if (this.#service.isLive) await this.#card?.load();
      if (!this.#isDue) this.follow(EVERY);
    }, delay);
  }
}
