// Away by itself: a scripted service, and a document in the place of the browser's.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { settled, Stage } from "./stage.js";

/** What the page is told that its user does. */
class Page extends EventTarget {
  hidden = false;
  listeners = 0;

  addEventListener(type, listener, options) {
    this.listeners += 1;
    options.signal.addEventListener("abort", () => (this.listeners -= 1));
    super.addEventListener(type, listener, options);
  }

  does(type, members) {
    this.dispatchEvent(Object.assign(new Event(type), members));
  }

  hides(isHidden) {
    this.hidden = isHidden;
    this.does("visibilitychange");
  }
}

let page, stage;
beforeEach(() => {
  page = globalThis.document = new Page();
});
afterEach(() => {
  stage.porchlight.close({ logout: false });
  delete globalThis.document;
});

const login = {
  method: "login", params: { account: "alice", device: "d", client: "web", sync: "none" },
};
const steps = (...all) => all.reduce((before, step) =>
  before.then(() => stage.step(step)).then(settled), Promise.resolve());
const says = (availability, within) =>
  [{ hears: { method: "setAvailability", params: availability }, within }, { answers: {} }];
const AWAY = { show: "away" };

const begin = async (away = {}) => {
  stage = new Stage({ options: { account: "alice", device: "d", away } });
  // A page that was away before it was reloaded still has its session.
  await steps({ connects: [0, 0] }, { hears: login }, { answers: {} }, ...says({}));
};

test("a page in which nothing is done is away after 5 minutes, until something is", async () => {
  await begin();
  for (const type of ["pointermove", "pointerdown", "keydown", "wheel", "touchstart"]) {
    await steps(...says(AWAY, [299, 301]), { passes: 3_600 });
    page.does(type, { screenX: 1, screenY: 1 });
    await steps(...says({}));
  }
});

test("whatever is done begins the time again, and nothing is sent for it", async () => {
  await begin({ after: 60 });
  for (let count = 0; count < 20; count++) {
    await steps({ passes: 50 });
    page.does("keydown");
  }
  await steps({ passes: 59 }, ...says(AWAY, [0, 2]));
});

test("a pointer that stands still does nothing, and neither does a page that scrolls", async () => {
  await begin();
  page.does("pointermove", { screenX: 5, screenY: 5 });
  await steps({ passes: 200 });
  page.does("pointermove", { screenX: 5, screenY: 5 });
  page.does("scroll");
  await steps(...says(AWAY, [99, 101]));
  page.does("pointermove", { screenX: 5, screenY: 5 });
  await steps({ passes: 60 });
  page.does("pointermove", { screenX: 6, screenY: 5 });
  await steps(...says({}));
});

test("a page that is hidden is away after the same time, until it is shown", async () => {
  await begin();
  await steps({ passes: 200 });
  page.hides(true);
  await steps(...says(AWAY, [299, 301]), { passes: 600 });
  page.hides(false);
  await steps(...says({}));
});

test("what the app has set stays", async () => {
  await begin();
  const { porchlight } = stage;
  const set = async (availability, shown = availability) => {
    porchlight.setAvailability(availability);
    await steps(...says(shown));
  };
  await set({ show: "dnd", text: "in a meeting" });
  await steps({ passes: 290 }, ...says({ show: "dnd", text: "in a meeting" }, [9, 11]));
  page.does("keydown");
  await steps(...says({ show: "dnd", text: "in a meeting" }));
  await set({ show: "chat", text: "hi", priority: 3 });
  await steps(...says({ show: "away", text: "hi", priority: 3 }, [299, 301]));
  await set({ text: "back soon" }, { show: "away", text: "back soon" });
  page.does("keydown");
  await steps(...says({ text: "back soon" }));
});

test("a status is not touched", async () => {
  await begin();
  stage.porchlight.setStatus(10_001, { text: "busy" });
  await steps({ hears: { method: "publish", params: { type: 1, value: 10_001, ext: "busy" } } },
    { answers: {} }, ...says(AWAY, [299, 301]));
  page.does("keydown");
  await steps(...says({}), { passes: 200 });
});

test("a page that is away is away in the next session, too", async () => {
  await begin();
  await steps(...says(AWAY, [299, 301]), { loses: {} }, { connects: [0, 1] }, { hears: login },
    { answers: {} }, ...says(AWAY), { loses: {} });
  page.does("keydown");
  await steps({ connects: [0, 2] }, { hears: login }, { answers: {} }, ...says({}));
});

test("a client that is closed looks no more", async () => {
  await begin();
  assert(page.listeners > 0);
  stage.porchlight.close({ logout: false });
  assert.equal(page.listeners, 0);
  assert.equal(stage.clock.timers.size, 0);
});

test("the console says what is wrong with the option", async () => {
  await begin({ after: "soon" });
  assert.match(stage.warnings.join(), /away\.after/);
  await steps(...says(AWAY, [299, 301]));
  stage.porchlight.close();
  delete globalThis.document;
  stage = new Stage({ options: { account: "alice", device: "d", away: {} } });
  await steps({ connects: [0, 0] }, { hears: login }, { answers: {} }, { passes: 900 });
  assert.match(stage.warnings.join(), /no page/);
});
