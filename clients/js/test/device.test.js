// Names of tabs, with the locks and the storage of a browser in their place.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { device } from "../src/device.js";

/** Web Locks, as far as `ifAvailable` needs them. */
class Locks {
  held = new Set();

  async request(name, { ifAvailable }, action) {
    assert(ifAvailable);
    if (this.held.has(name)) return action(null);
    this.held.add(name);
    try {
      return await action({ name });
    } finally {
      this.held.delete(name);
    }
  }
}

const set = (name, value) =>
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });

let stored;
beforeEach(() => {
  stored = new Map();
  set("navigator", { locks: new Locks() });
  set("localStorage", {
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => stored.set(key, value),
  });
});

test("each tab has its own name, and a reload the same again", async () => {
  const tabs = await Promise.all([device(), device(), device()]);
  const names = tabs.map(({ name }) => name);
  assert.deepEqual(names.map((name) => name.slice(-2)).sort(), ["-1", "-2", "-3"]);
  assert.match(names[0], /^web-[0-9a-z]{8}-\d$/);
  tabs[1].release();
  await new Promise(setImmediate);
  assert.equal((await device()).name, names[1]);
  set("navigator", { locks: new Locks() });
  assert.equal((await device()).name, names[0].replace(/\d$/, "1"));
});

test("subscribers cannot tell that two accounts are used in one browser", async () => {
  const anna = await device("anna");
  const berta = await device("berta");
  assert.notEqual(anna.name.slice(0, -2), berta.name.slice(0, -2));
  assert.deepEqual([anna, berta].map(({ name }) => name.slice(-2)), ["-1", "-2"]);
  anna.release();
  await new Promise(setImmediate);
  assert.equal((await device("anna")).name, anna.name);
});

test("the ninth tab has a random name", async () => {
  for (let tab = 1; tab <= 8; tab++) assert.match((await device()).name, new RegExp(`-${tab}$`));
  assert.match((await device()).name, /^web-[0-9a-z]{8}$/);
});

test("without storage or locks the name is random", async () => {
  set("localStorage", undefined);
  const first = (await device()).name;
  assert.match(first, /^web-[0-9a-z]{8}$/);
  set("localStorage", { getItem: () => "same" });
  set("navigator", {});
  assert.match((await device()).name, /^web-[0-9a-z]{8}$/);
  set("navigator", { locks: { request: async () => { throw new Error("SecurityError"); } } });
  assert.match((await device()).name, /^web-[0-9a-z]{8}$/);
  assert.notEqual((await device()).name, first);
});
