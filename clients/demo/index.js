import { people } from "./people.js";
import { listen } from "./report.js";
import { Trial } from "./trial.js";

const find = (selector) => document.querySelector(selector);

// One window for each user.

const windows = new Map();
let trial;

class UserWindow {
  isLive = false;
  /** It is offline on purpose: closed, logged out, or without its network. */
  hasLeft = true;
  /** When a state was set. */
  since = -Infinity;

  constructor(name) {
    this.name = name;
    this.element = find("template").content.cloneNode(true).firstElementChild;
    this.frame = this.element.querySelector("iframe");
    this.page = `person.html?me=${encodeURIComponent(name)}`;
    const link = this.element.querySelector("a");
    link.href = this.page;
    link.firstElementChild.textContent = name;
    link.title = `Open the page of ${name} in a window of its own`;
    this.frame.title = `The page of ${name}`;
    this.button = this.element.querySelector(".close");
    this.button.onclick = () => this.open(!this.isOpen);
    this.element.setAttribute("aria-label", name);
    this.open(true);
    find("main").append(this.element);
  }

  open(isOpen) {
    this.isOpen = isOpen;
    this.isLive = false;
    this.hasLeft = true;
    this.frame.src = isOpen ? this.page : "about:blank";
    this.frame.hidden = !isOpen;
    this.element.querySelector(".closed").hidden = isOpen;
    this.button.textContent = isOpen ? "Close tab" : "Open again";
    this.notice("");
    trial?.notice(this, {});
  }

  /** Another user's page shows the state that was set last. */
  wasSeen(name) {
    const time = performance.now() - this.since;
    if (time < 5_000) this.notice(`seen by ${name} after ${Math.ceil(time)} ms`);
  }

  notice(text) {
    this.element.querySelector(".noticed").textContent = text;
  }

  send(message) {
    this.frame.contentWindow.postMessage(message, location.origin);
  }
}

const add = () => {
  const name = people[windows.size];
  windows.set(name, new UserWindow(name));
  const next = people[windows.size];
  find("#add").hidden = !next;
  find("#add").textContent = `Add ${next}`;
  // A button that is hidden loses the focus.
  if (!next) windows.get(name).button.focus();
};
find("#add").onclick = add;
add();
add();

// kill -9, and what the users notice of it.

listen((data) => {
  const user = windows.get(data.me);
  if (!user?.isOpen) return;
  if (data.height) user.frame.style.height = `${data.height}px`;
  if (data.left) user.hasLeft = true;
  if (data.live) user.hasLeft = false;
  if ("live" in data) user.isLive = data.live;
  if (data.set) user.since = performance.now();
  if (data.saw) windows.get(data.saw)?.wasSeen(user.name);
  trial?.notice(user, data);
});

find("#kill9").onclick = async ({ currentTarget: button }) => {
  // A button that is `disabled` loses the focus.
  if (button.ariaDisabled === "true") return;
  button.ariaDisabled = "true";
  trial = new Trial(windows, find);
  await trial.run();
  button.ariaDisabled = "false";
};
