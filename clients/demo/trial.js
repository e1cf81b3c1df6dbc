// One kill -9, and a count of what the users notice of it.

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`;
/** For how long a message may take before it counts as lost, in milliseconds. */
const LATE = 60_000;

export class Trial {
  #windows;
  #find;
  #users;
  #flickers = 0;
  /** What has been sent and has not arrived, with its sender and its recipient. */
  #missing = new Map();
  #sent = 0;
  /** Since when pages are not live, and for how long they were. */
  #since = new Map();
  #stale = new Map();
  #isBack = false;
  #done = () => {};

  constructor(windows, find) {
    this.#windows = windows;
    this.#find = find;
    this.#users = [...windows.values()].filter(({ isLive }) => isLive);
    for (const user of windows.values()) user.notice("");
  }

  /** Resolves when the pages are live again and the messages have arrived. */
  async run() {
    if (this.#users.length < 2) return this.#show("result", "Open two tabs first.");
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
  notice(user, { live, gone, test, from }) {
    if (gone) {
      const other = this.#windows.get(gone);
      // A user that has left is offline: that is no flicker.
      if (this.#users.includes(other) && !other.hasLeft) {
        this.#show("flickers", ++this.#flickers);
      }
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
    const others = this.#users.filter((other) => other !== user);
    if (!others.length) return;
    const test = `${performance.now()}`;
    for (const other of others) {
      this.#missing.set(`${test} ${user.name} ${other.name}`, [user, other]);
    }
    this.#sent += others.length;
    user.send({ test, to: others.map(({ name }) => name), text });
  }

  #look() {
    const areLive = this.#users.every((user) => user.hasLeft
      || (user.isLive && this.#stale.has(user)));
    if (this.#isBack && areLive && !this.#lost) this.#done();
  }

  /** Messages that have not arrived; those from and for users that have left may still wait. */
  get #lost() {
    return [...this.#missing.values()].filter((pair) => !pair.some((user) => user.hasLeft)).length;
  }

  #finish() {
    this.#show("stale", seconds(Math.max(0, ...this.#stale.values())));
    this.#show("lost", this.#lost);
    this.#show("result", this.#result);
  }

  get #result() {
    if (this.#lost || this.#flickers) return "This should not happen: please report it.";
    if (this.#users.every((user) => user.hasLeft)) {
      return "Nobody was left to notice anything: keep two tabs open.";
    }
    const { size } = this.#missing;
    const messages = size
      ? `${this.#sent - size} messages have arrived; ${size} are from or for users that have left.`
      : `all ${this.#sent} messages have arrived.`;
    return `No user was shown as offline, and ${messages} `
      + "Each page waits for a random time before it connects again, so that not all come at once.";
  }

  #show(id, text) {
    this.#find(`#${id}`).textContent = text;
  }
}
