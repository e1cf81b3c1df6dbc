// The contracts of frameworks, by stand-ins for them. React and Vue themselves run in test/browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { beforeEach, describe, test } from "node:test";
import { follower } from "../src/follow.js";
import { Topics } from "../src/topics.js";
import { Watch } from "../src/watch.js";

const page = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const turn = () => new Promise(setImmediate);

let topics, watch, listeners;
const event = (publisher, seq) => topics.apply({ type: 1, publisher, seq, cause: "x", online: [] });

beforeEach(async () => {
  topics = new Topics();
  watch = new Watch(topics, () => {}, 1, ["bob", "carol"]);
  listeners = 0;
  const { addEventListener, removeEventListener } = watch;
  watch.addEventListener = (...all) => (listeners += 1, addEventListener.apply(watch, all));
  watch.removeEventListener = (...all) => (listeners -= 1, removeEventListener.apply(watch, all));
  await turn();
});

/** What `readable` of svelte/store does: its start function runs for the first subscriber. */
const readable = (value, start) => {
  const subscribers = new Set();
  let stop;
  const set = (next) => {
    // An object may have changed in itself: it always counts as new.
    if (Object.is(next, value) && typeof next !== "object") return;
    value = next;
    for (const run of subscribers) run(value);
  };
  return {
    subscribe(run) {
      subscribers.add(run);
      if (subscribers.size === 1) stop = start(set) ?? (() => {});
      run(value);
      return () => {
        subscribers.delete(run);
        if (subscribers.size === 0) stop();
      };
    },
  };
};

describe("Svelte", () => {
  const [, text] = /^```js\n(const storeOf.*?)^```/ms.exec(page);
  const storeOf = new Function("readable", `${text}; return storeOf;`)(readable);

  test("a store follows the watch while it has subscribers", async () => {
    const store = storeOf(watch);
    assert.equal(listeners, 0);
    const seen = [];
    const unsubscribe = store.subscribe((all) => seen.push(all.get("bob").is));
    const other = store.subscribe(() => {});
    assert.equal(listeners, 1);
    event("bob", 1);
    await turn();
    assert.deepEqual(seen, ["unknown", "offline"]);
    other();
    unsubscribe();
    assert.equal(listeners, 0);
    event("bob", 2);
    await turn();
    assert.equal(seen.length, 2);
  });
});

describe("what many parts of a page show", () => {
  const parts = { bob: 0, carol: 0 };
  const event = (topics, publisher, seq) =>
    topics.apply({ type: 1, publisher, seq, cause: "x", online: [] });

  test("a change is told only to those that show its account, by one watch", async () => {
    const topics = new Topics();
    const types = [];
    const client = {
      watch(accounts, { type }) {
        types.push(type);
        return new Watch(topics, () => {}, type, accounts);
      },
    };
    const stops = ["bob", "bob", "carol"].map((account) =>
      follower(client).add(account, () => (parts[account] += 1)));
    await turn();
    Object.assign(parts, { bob: 0, carol: 0 });
    event(topics, "bob", 1);
    await turn();
    assert.deepEqual(parts, { bob: 2, carol: 0 });
    assert.equal(follower(client).get("bob").is, "offline");
    assert.equal(follower(client).get("carol"), undefined);
    stops[0]();
    event(topics, "bob", 2);
    await turn();
    assert.deepEqual(parts, { bob: 3, carol: 0 });
    assert.equal(follower(client, 100), follower(client, 100));
    assert.deepEqual(types, [1, 100]);
    for (const stop of stops) stop();
  });
});

describe("React's useSyncExternalStore", () => {
  test("a snapshot is the same until the account changes, and then another", async () => {
    const [bob, carol] = [watch.get("bob"), watch.get("carol")];
    assert.equal(watch.get("bob"), bob);
    event("bob", 1);
    assert.notEqual(watch.get("bob"), bob);
    assert.equal(watch.get("carol"), carol);
  });

  test("each change of a snapshot is followed by an event", async () => {
    let known = watch.get("bob");
    let changes = 0;
    watch.addEventListener("change", () => {
      if (watch.get("bob") !== known) changes += 1;
      known = watch.get("bob");
    });
    for (let seq = 1; seq <= 3; seq++) {
      event("bob", seq);
      await turn();
      assert.equal(changes, seq);
    }
    topics.lose();
    await turn();
    assert.equal(changes, 4);
  });
});
