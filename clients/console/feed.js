// The live list: every event from now on, filtered and held by the reader.

import { stream } from "./api.js";
import { accountLink, clock, dot, element, find, number, say, visible } from "./page.js";

const KEPT = 1_000; // events that a filter is applied to
const SHOWN = 100; // rows
const EVERY = 400; // milliseconds between updates of the list

/** What is kept of an event. */
function entry(event) {
  const { type = 1, publisher, cause, client, device, status, online } = event;
  const text = status?.ext === undefined ? "" : `“${visible(status.ext)}”`;
  const kind = type !== 1 ? "status" : online?.length ? "online"
    : event.value === 0 ? "unknown" : "offline";
  const where = [client, device].filter(Boolean).map(visible).join(" ");
  const what = type === 1 ? cause : `${cause}, type ${type}`;
  return {
    time: event.time, publisher, kind, cause, what, where, text, value: status?.value ?? "",
    words: [visible(publisher), what, where, text, status?.value].join("\n").toLowerCase(),
  };
}

function row({ time, publisher, kind, cause, what, where, text, value, gap }) {
  if (gap) return element("tr", { class: "gap" }, element("td", { colspan: 5 }, gap));
  return element("tr", {},
    element("td", { class: "time" }, clock(time)),
    element("th", { scope: "row" }, dot(kind), accountLink(publisher)),
    element("td", { class: cause }, visible(what)),
    element("td", { class: "where", title: where }, where),
    element("td", { title: text }, element("span", { class: "name" }, text), ` ${value}`));
}

export class Feed {
  #entries = []; // newest first
  #fresh = []; // arrived since the last update of the list, oldest first
  #missed = 0; // arrived since the list is held
  #isHeld = false;
  #words = "";
  #stop;
  #failures = 0;
  #lostAt;
  #timer;
  #body = find("#feed tbody");
  #hold = find("#hold");
  #state = find("#feed-state");
  #none = find("#feed-none");
  #changed;

  /** `changed` is called with the publishers of events, as they arrive. */
  constructor(changed) {
    this.#changed = changed;
    this.#hold.addEventListener("click", () => this.#setHeld(!this.#isHeld));
    find("#filter").addEventListener("input", ({ target }) => {
      this.#words = target.value.trim().toLowerCase();
      this.#rebuild();
    });
    // What is chosen by keyboard or pointer must not move away.
    this.#body.addEventListener("focusin", () => this.#setHeld(true));
  }

  get isOpen() { return this.#stop !== undefined; }

  open() {
    if (this.isOpen) return;
    this.#stop = new AbortController();
    this.#read(this.#stop.signal);
  }

  /** Hangs up, so that the service keeps nothing for a page that nobody looks at. */
  close(why) {
    this.#stop?.abort();
    this.#stop = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lost();
    say(this.#state, why);
  }

  async #read(signal) {
    while (!signal.aborted) {
      try {
        const parts = stream("/v1/feed?from=now", signal, () => this.#opened());
        for await (const [name, data] of parts) {
          if (name === "change") this.#take(data.events);
          if (name === "reset") break; // too far behind: what follows is no news
        }
        if (!signal.aborted) this.#lost();
      } catch (error) {
        if (signal.aborted) return;
        this.#lost();
        say(this.#state, error.status > 0 ? error.message : "disconnected");
      }
      await this.#pause(signal);
    }
  }

  #opened() {
    this.#failures = 0;
    if (this.#lostAt !== undefined) {
      this.#add({ gap: `not read from ${clock(this.#lostAt)} to ${clock(Date.now())}`, words: "" });
      this.#lostAt = undefined;
    }
    say(this.#state, `since ${clock(Date.now())}`);
  }

  #lost() { this.#lostAt ??= Date.now(); }

  /** Waits longer after each failure. */
  #pause(signal) {
    const most = Math.min(15_000, 500 * 2 ** this.#failures++);
    return new Promise((resolve) => {
      setTimeout(resolve, most * (0.5 + Math.random() / 2));
      signal.addEventListener("abort", resolve, { once: true });
    });
  }

  #take(events) {
    for (const event of events) this.#add(entry(event));
    this.#changed(events);
  }

  #add(added) {
    this.#fresh.push(added);
    if (this.#fresh.length > KEPT) this.#fresh.shift();
    if (this.#isHeld) this.#missed += 1;
    this.#timer ??= setTimeout(() => this.#update(), EVERY);
  }

  #matches(candidate) { return candidate.gap || candidate.words.includes(this.#words); }

  #update() {
    this.#timer = undefined;
    if (this.#isHeld) return this.#tellHold();
    const fresh = this.#fresh.reverse();
    this.#fresh = [];
    this.#entries = [...fresh, ...this.#entries].slice(0, KEPT);
    const rows = fresh.filter((candidate) => this.#matches(candidate)).slice(0, SHOWN).map(row);
    this.#body.prepend(...rows);
    while (this.#body.rows.length > SHOWN) this.#body.lastChild.remove();
    this.#tellNone();
  }

  /** The filter has changed: the list is made again of what is kept. */
  #rebuild() {
    const matching = this.#entries.filter((candidate) => this.#matches(candidate));
    this.#body.replaceChildren(...matching.slice(0, SHOWN).map(row));
    this.#tellNone();
  }

  #setHeld(isHeld) {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    this.#missed = 0;
    this.#hold.setAttribute("aria-pressed", String(isHeld));
    this.#tellHold();
    if (!isHeld) this.#update();
  }

  #tellHold() {
    const fresh = this.#missed ? `: ${number(this.#missed)} new` : "";
    say(this.#hold, this.#isHeld ? `Held${fresh}` : "Hold");
  }

  #tellNone() {
    this.#none.hidden = this.#body.rows.length > 0;
    say(this.#none, this.#entries.length
      ? "No event of the last thousand matches." : "Events appear here as they happen.");
  }
}
