// One kill -9, and a count of what the users notice of it.

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`;
/** For how long a message may take before it counts as lost, in milliseconds. */
const LATE = 60_000;

export class Trial {
  #windows;
  #find;
  #users;
  #flickers = 0;
  /** What has been sent and has not arrived. */
  #missing = new Set();
  #sent = 0;
  /** Since when pages are not live, and for how long they were. */
  #since = new Map();
  #stale = new Map();
  #isBack = false;
  #done = () => {};

  constructor(windows, find) {
    this.#windows = windows;
    this.#find = find;
    this.#users = [...windows.values()].filter(({ isOpen, isLive }) => isOpen && isLive);
    for (const user of windows.values()) user.notice("");
  }

  /** Resolves when the pages are live again and the messages have arrived. */
  async run() {
    for (const id of ["away", "stale", "lost"]) this.#show(id, "…");
    this.#show("flickers", 0);
    this.#show("result", "");
    const isDone = new Promise((resolve) => { this.#done = resolve; });
    const timer = setTimeout(this.#done, LATE);
    for (const user of this.#users) this.#test(user, "Sent at the moment of the kill.");
    try {
      const response = await fetch("kill", { method: "POST" });
      const { milliseconds } = await response.json();
      this.#show("away", seconds(milliseconds));
      this.#isBack = true;
      this.#look();
      await isDone;
      this.#finish();
    } catch {
      this.#show("result", "The demo itself has ended.");
    }
    clearTimeout(timer);
  }

  /** Counts what the page of a user has told. */
  notice(user, { live, changed, test, from }) {
    if (changed) {
      const other = this.#windows.get(changed);
      // A user that has left is offline: that is no flicker.
      if (this.#users.includes(other) && other.isOpen && !other.hasLeft) this.#show("flickers", ++this.#flickers);
    }
    if (live === false && !this.#since.has(user) && this.#users.includes(user) && !user.hasLeft) {
      this.#since.set(user, performance.now());
      if (!this.#stale.has(user)) this.#test(user, "Sent while the service was away.");
    }
    if (live && this.#since.has(user)) {
      const time = performance.now() - this.#since.get(user);
      this.#since.delete(user);
      this.#stale.set(user, (this.#stale.get(user) ?? 0) + time);
      user.notice(`not live for ${seconds(this.#stale.get(user))}`);
    }
    if (test) this.#missing.delete(`${test} ${from} ${user.name}`);
    this.#look();
  }

  /** Has a user send a message to all others. */
  #test(user, text) {
    const to = this.#users.filter((other) => other !== user).map(({ name }) => name);
    if (!to.length) return;
    const test = `${performance.now()}`;
    for (const name of to) this.#missing.add(`${test} ${user.name} ${name}`);
    this.#sent += to.length;
    user.send({ test, to, text });
  }

  #look() {
    const areLive = this.#users.every((user) => !user.isOpen || user.hasLeft
      || (user.isLive && this.#stale.has(user)));
    if (this.#isBack && areLive && !this.#missing.size) this.#done();
  }

  #finish() {
    this.#show("stale", seconds(Math.max(0, ...this.#stale.values())));
    this.#show("lost", this.#missing.size);
    this.#show("result", this.#missing.size || this.#flickers
      ? "This should not happen: please report it."
      : `No user was shown as offline, and all ${this.#sent} messages have arrived.`);
  }

  #show(id, text) {
    this.#find(`#${id}`).textContent = text;
  }
}
