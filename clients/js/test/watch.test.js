// The map itself: what is gathered, how loops end.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Topics } from "../src/topics.js";
import { Watch } from "../src/watch.js";

const turn = () => new Promise(setImmediate);

let topics, wakes;
const create = (...accounts) => new Watch(topics, () => (wakes += 1), 1, accounts);
const event = (publisher, seq, online = []) =>
  topics.apply({ type: 1, publisher, seq, cause: "login", online });

beforeEach(() => {
  topics = new Topics();
  wakes = 0;
});

test("it is a map", () => {
  const watch = create("bob", "carol", "bob");
  assert.equal(watch.size, 2);
  assert.deepEqual([...watch.keys()], ["bob", "carol"]);
  assert.deepEqual([...watch].map(([account, { is }]) => [account, is]),
    [["bob", "unknown"], ["carol", "unknown"]]);
  assert.deepEqual([...watch.values()].map(({ account }) => account), ["bob", "carol"]);
  assert(watch.has("bob") && !watch.has("dave"));
  assert.equal(watch.get("dave"), undefined);
  assert.equal(wakes, 1);
  assert.throws(() => watch.add(5), TypeError);
});

test("it has all that a Map has to read it", () => {
  const watch = create("bob", "carol");
  const map = new Map(watch);
  const names = Object.getOwnPropertyNames(Map.prototype);
  for (const name of names) {
    if (["constructor", "set", "clear"].includes(name)) continue;
    assert(name in watch, name);
  }
  assert.deepEqual([...watch.entries()], [...map.entries()]);
  const seen = [];
  watch.forEach(function (presence, account, all) {
    seen.push([this.self, presence, account, all]);
  }, { self: 1 });
  assert.deepEqual(seen, [
    [1, map.get("bob"), "bob", watch], [1, map.get("carol"), "carol", watch],
  ]);
});

test("ready settles in each case", async () => {
  assert.equal(await create().ready, true);
  const watch = create("bob", "carol");
  const outcomes = [];
  watch.ready.then((outcome) => outcomes.push(outcome));
  await turn();
  event("bob", 1);
  await turn();
  assert.deepEqual(outcomes, []);
  event("carol", 1);
  await turn();
  assert.deepEqual(outcomes, [true]);
  assert.equal(await watch.ready, true);
  // What was asked for and is deleted is not waited for.
  watch.add("dan");
  watch.ready.then((outcome) => outcomes.push(outcome));
  watch.delete("dan");
  await turn();
  assert.deepEqual(outcomes, [true, true]);
  const others = create("erin");
  others.ready.then((outcome) => outcomes.push(outcome));
  others.close();
  await turn();
  assert.deepEqual(outcomes, [true, true, false]);
  assert.equal(await others.ready, false);
  const last = create("frank");
  last.ready.then((outcome) => outcomes.push(outcome));
  topics.end();
  await turn();
  assert.deepEqual(outcomes, [true, true, false, false]);
  assert.equal(await create("bob").ready, true, "it is known, if old");
});

test("changes of a turn are one event, with the newest of each account", async () => {
  const watch = create("bob", "carol");
  await turn();
  const seen = [];
  watch.addEventListener("change", ({ detail }) => seen.push(detail));
  event("bob", 1);
  event("bob", 2, [{ client: "ios", device: "d" }]);
  watch.add("dave");
  watch.delete("carol", "not here");
  assert.deepEqual(seen, []);
  await turn();
  assert.equal(seen.length, 1);
  assert.deepEqual([...seen[0].keys()], ["bob", "dave", "carol"]);
  assert.equal(seen[0].get("bob"), watch.get("bob"));
  assert.equal(seen[0].get("bob").is, "online");
  assert.equal(seen[0].get("carol"), undefined);
});

test("an account is away if it is on each device that is connected", () => {
  const watch = create("bob");
  const away = { client: "web", device: "a", show: "away" };
  const xa = { client: "web", device: "b", show: "xa" };
  const here = { client: "ios", device: "c" };
  const busy = { client: "ios", device: "c", show: "dnd" };
  const pushed = { client: "ios", device: "d", push: true };
  const cases = [
    [[], "offline"], [[here], "online"], [[away], "away"], [[away, xa], "away"], [[busy], "online"],
    [[away, here], "online"], [[xa, busy], "online"], [[pushed], "online"], [[away, pushed], "away"],
    [[{ ...away, push: true }], "online"],
  ];
  for (const [index, [devices, is]] of cases.entries()) {
    event("bob", index + 1, devices);
    assert.equal(watch.get("bob").is, is, JSON.stringify(devices));
    assert.deepEqual(watch.get("bob").devices, devices);
  }
});

test("a presence does not change", () => {
  const watch = create("bob");
  const before = watch.get("bob");
  assert(Object.isFrozen(before));
  event("bob", 1);
  assert.equal(before.is, "unknown");
  assert.notEqual(watch.get("bob"), before);
  event("bob", 1);
  const known = watch.get("bob");
  event("bob", 1);
  assert.equal(watch.get("bob"), known);
});

test("a loop gets everything once, then changes, gathered while it is busy", async () => {
  const watch = create("bob", "carol");
  const seen = [];
  let go = () => {};
  (async () => {
    for await (const changes of watch) {
      seen.push([...changes.keys()].join());
      await new Promise((resolve) => (go = resolve));
    }
    seen.push("end");
  })();
  await turn();
  assert.deepEqual(seen, ["bob,carol"]);
  go();
  await turn();
  assert.equal(seen.length, 1);
  event("bob", 1);
  await turn();
  assert.deepEqual(seen.slice(1), ["bob"]);
  event("carol", 1);
  event("bob", 2);
  await turn();
  go();
  await turn();
  assert.deepEqual(seen.slice(2), ["carol,bob"]);
  go();
  await turn();
  topics.lose();
  topics.end();
  await turn();
  assert.deepEqual(seen.slice(3), ["bob,carol"]);
  go();
  await turn();
  assert.deepEqual(seen.slice(4), ["end"]);
});

test("a loop ends with its watch", async () => {
  const watch = create("bob");
  let hasEnded = false;
  (async () => {
    for await (const _ of watch.changes());
    hasEnded = true;
  })();
  await turn();
  watch.close();
  await turn();
  assert(hasEnded);
  assert.equal(watch.size, 0);
  event("bob", 1);
  watch.add("carol");
  await turn();
  assert.equal(watch.size, 0);
});

// It has V8's collector run at once. Bun has another, which need not free anything by then.
const inV8 = { skip: "Bun" in globalThis };

test("a watch that is closed is freed, also with a loop that never ended", inV8, async () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  const begin = () => {
    const watch = create("bob");
    watch.addEventListener("change", () => {});
    const changes = watch.changes();
    changes.next();
    return watch;
  };
  const freed = new WeakRef(begin());
  await turn();
  freed.deref().close();
  for (let count = 0; count < 10 && freed.deref(); count++) {
    await turn();
    gc();
  }
  assert.equal(freed.deref(), undefined);
});

test("a watch that is closed dispatches nothing", async () => {
  const watch = create("bob");
  watch.addEventListener("change", () => assert.fail("it is closed"));
  watch.close();
  await turn();
});

test("if one name is not a string, none is watched", () => {
  assert.throws(() => create("bob", undefined), TypeError);
  assert.deepEqual(topics.takeDue(0, 9), []);
  const watch = create("bob");
  assert.throws(() => watch.add("carol", 5), TypeError);
  assert.deepEqual([...watch.keys()], ["bob"]);
});

test("names that look like members of an object are names", () => {
  const watch = create("__proto__", "constructor", "1:bob");
  event("__proto__", 1, [{ client: "ios", device: "d" }]);
  assert.equal(watch.get("__proto__").is, "online");
  assert.equal(watch.get("constructor").is, "unknown");
  assert.equal(watch.get("1:bob").is, "unknown");
});
