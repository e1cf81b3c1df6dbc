// Devices and push messages: a scripted service, and a browser's push in the place of the runtime's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, test } from "node:test";
import vm from "node:vm";
import { Stage, settled } from "./stage.js";

const set = (name, value) =>
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });

const page = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** A browser, as far as push needs it. */
class Browser {
  isPage = true;
  permission = "granted";
  current = null;
  asked = [];

  constructor() {
    set("PushManager", class {});
    const registration = { pushManager: this };
    set("navigator", { serviceWorker: {
      ready: Promise.resolve(registration), getRegistration: async () => this.isPage && registration,
    } });
    set("Notification", { requestPermission: async () => this.permission });
  }

  async subscribe({ userVisibleOnly, applicationServerKey }) {
    assert(userVisibleOnly);
    this.asked.push(applicationServerKey);
    if (this.current && this.current.key !== applicationServerKey) {
      throw new DOMException("another key", "InvalidStateError");
    }
    this.current ??= {
      key: applicationServerKey,
      toJSON: () => ({ endpoint: "https://push.example/1", keys: { p256dh: "p", auth: "a" } }),
      unsubscribe: async () => {
        this.current = null;
        return true;
      },
    };
    return this.current;
  }

  async getSubscription() {
    return this.current;
  }
}

const address = '{"endpoint":"https://push.example/1","keys":{"p256dh":"p","auth":"a"}}';
const login = { method: "login" };
const stages = [];
const stage = () => {
  const made = new Stage({ options: { account: "alice" } });
  stages.push(made);
  return made;
};

/** Logs in; what follows is about devices. */
const connected = async (made, result = {}) => {
  await made.step({ connects: [0, 20] });
  await settled();
  assert.equal(made.line.requests.shift().method, login.method);
  await made.step({ answers: result });
  await settled();
};

const requested = async (made) => {
  await settled();
  const { method, params } = made.line.requests.shift();
  assert.equal(method, "setDevice");
  return params;
};

afterEach(() => {
  for (const { porchlight } of stages.splice(0)) porchlight.close();
});

test("what a device is given is repeated until it is confirmed", async () => {
  const made = stage();
  const { porchlight } = made;
  const calls = [porchlight.setDevice({ alias: "desk", tags: new Set(["a", "b"]) }),
    porchlight.setDevice({ tags: "beta" })];
  await connected(made);
  assert.deepEqual(await requested(made), { alias: "desk", tags: ["a", "b"] });
  await made.step({ loses: {} });
  await connected(made);
  assert.deepEqual(await requested(made), { alias: "desk", tags: ["a", "b"] });
  // One after the other, so that the last call is the last word.
  assert.equal(made.line.requests.length, 0);
  await made.step({ answers: { device: { device: "d", alias: "desk", tags: ["a", "b"] } } });
  assert.deepEqual(await calls[0], { device: "d", alias: "desk", tags: ["a", "b"] });
  assert.deepEqual(await requested(made), { tags: ["beta"] });
  await made.step({ rejects: { code: 416, data: { reason: "rate_limited", retryAfter: 1 } } });
  await made.clock.run(() => made.line.requests.length > 0, made.clock.now + 60_000);
  assert.deepEqual(await requested(made), { tags: ["beta"] });
  await made.step({ rejects: { code: 403, data: { reason: "forbidden" } } });
  await assert.rejects(calls[1], { reason: "forbidden", code: 403 });
});

test("push is enabled with the key of the service, and disabled", async () => {
  const browser = new Browser();
  const made = stage();
  const enabled = made.porchlight.enablePush();
  await settled();
  assert.deepEqual(browser.asked, []);
  await connected(made, { pushKey: "BKey" });
  assert.deepEqual(await requested(made), { pushAddress: address });
  assert.deepEqual(browser.asked, ["BKey"]);
  await made.step({ answers: { device: { device: "d", pushAddress: address } } });
  assert.equal(await enabled, undefined);
  const disabled = made.porchlight.disablePush();
  assert.deepEqual(await requested(made), { pushAddress: "" });
  await made.step({ answers: { device: { device: "d" } } });
  assert.equal(await disabled, undefined);
  assert.equal(browser.current, null);
});

test("a subscription for another key is replaced", async () => {
  const browser = new Browser();
  await browser.subscribe({ userVisibleOnly: true, applicationServerKey: "BOld" });
  const made = stage();
  await connected(made, { pushKey: "BNew" });
  made.porchlight.enablePush().catch(() => {});
  assert.deepEqual(await requested(made), { pushAddress: address });
  assert.equal(browser.current.key, "BNew");
});

test("it is said why there is no push", async () => {
  const browser = new Browser();
  const made = stage();
  await connected(made);
  await assert.rejects(made.porchlight.enablePush(), { reason: "push_unavailable" });
  browser.isPage = undefined;
  await assert.rejects(made.porchlight.enablePush(), { reason: "push_unavailable" });
  browser.isPage = true;
  browser.permission = "denied";
  await assert.rejects(made.porchlight.enablePush(), { reason: "push_denied" });
  browser.permission = "granted";
  browser.subscribe = async () => { throw new DOMException("no network", "AbortError"); };
  const other = stage();
  await connected(other, { pushKey: "BKey" });
  await assert.rejects(other.porchlight.enablePush(), { name: "AbortError" });
  const third = stage();
  const pending = third.porchlight.enablePush();
  await settled();
  third.porchlight.close();
  await assert.rejects(pending, { reason: "closed" });
  set("navigator", {});
  await assert.rejects(made.porchlight.enablePush(), { reason: "push_unavailable" });
  const disabled = made.porchlight.disablePush();
  assert.deepEqual(await requested(made), { pushAddress: "" });
  await made.step({ answers: { device: { device: "d" } } });
  await disabled;
});

test("the service worker of the page shows what is pushed", async () => {
  const [source] = [...page.matchAll(/^```js\n(.*?)^```/gms)].map(([, text]) => text)
    .filter((text) => text.includes('addEventListener("push"'));
  const handlers = {};
  const shown = [];
  const opened = [];
  vm.runInNewContext(source, {
    addEventListener: (name, handler) => (handlers[name] = handler),
    registration: { showNotification: async (...notification) => shown.push(notification) },
    clients: { openWindow: async (url) => opened.push(url) },
    encodeURIComponent,
  });
  const event = (members) => ({ ...members, waitUntil: (promise) => (event.promise = promise) });
  const message = { message: "000000000005M", account: "lisi", from: "zs", body: "今天" };
  handlers.push(event({ data: { json: () => message } }));
  await event.promise;
  handlers.push(event({ data: { json: () => ({ message: "000000000005N", account: "lisi" }) } }));
  await event.promise;
  assert.equal(JSON.stringify(shown), JSON.stringify([
    ["zs", { body: "今天", tag: "000000000005M", data: { from: "zs" } }],
    ["News", { tag: "000000000005N", data: {} }],
  ]));
  let isClosed = false;
  const notification = { close: () => (isClosed = true), data: { from: "张三" } };
  handlers.notificationclick(event({ notification }));
  await event.promise;
  assert(isClosed);
  assert.deepEqual(opened, ["/?chat=" + encodeURIComponent("张三")]);
});
