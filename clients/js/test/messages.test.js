// Messages between accounts, with the real service: lost connections, crashes, rejections.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { connect } from "../src/node.js";
import { Relay } from "./network.js";
import { Service, binary, until } from "./service.js";

const timeout = 30_000;
const isMissing = binary ? false : "PORCHLIGHT_BIN is not set";
const hasNoWebSocket = globalThis.WebSocket ? false : "this runtime has no WebSocket";

/** The next messages of a client, each of which it takes but the last. */
const next = async (porchlight, count) => {
  const messages = [];
  for await (const message of porchlight.messages()) {
    messages.push(message);
    if (messages.length === count) return messages;
  }
};

/** Their texts, until one is `last`, which it does not take. */
const texts = async (porchlight, last) => {
  const found = [];
  for await (const { body } of porchlight.messages()) {
    found.push(body);
    if (body === last) return found;
  }
};

const transports = [["native", isMissing], ["ws", isMissing || hasNoWebSocket]];
for (const [transport, skip] of transports) describe(`by ${transport}`, { timeout, skip }, () => {
  let service;
  const ends = [];
  const relay = async () => {
    const made = await new Relay().start(service.port);
    ends.push(() => made.end());
    return made;
  };
  const client = (account, { port = service.port, ...options } = {}) => {
    const url = transport === "ws" ? `ws://127.0.0.1:${port}` : `porchlight://127.0.0.1:${port}`;
    const porchlight = connect(url, { account, device: "test", messages: true, ...options });
    ends.push(() => porchlight.close({ logout: false }));
    return porchlight;
  };

  before(async () => {
    service = await new Service("--disconnect-grace", "0").start();
  });
  after(async () => {
    for (const end of ends.reverse()) end();
    await service.end();
  });

  test("a receipt needs no text", async () => {
    const [gina, hal] = [client("gina"), client("hal")];
    await gina.send("hal", undefined, { receipt: "s-1" });
    const [{ body, from, receipt }] = await next(hal, 1);
    assert.deepEqual({ body, from, receipt }, { body: "", from: "gina", receipt: "s-1" });
    await assert.rejects(gina.send("hal", undefined), { reason: "missing_field" });
  });

  test("a message reaches an account that is connected, and one that is not", async () => {
    const alice = client("alice");
    const bob = client("bob", { messages: undefined, device: "phone" });
    const options = { ext: "{}", ref: "m1", expiry: 60 };
    const sent = await bob.send(["alice", "carol"], "今天的天气真好。", options);
    assert.equal(sent.recipients, 2);
    assert.equal(sent.expires - sent.time, 60_000);
    for (const reader of [alice, client("carol")]) {
      const [message] = await next(reader, 1);
      assert.deepEqual(message, {
        id: message.id, from: "bob", fromDevice: "phone", time: sent.time,
        body: "今天的天气真好。", ext: "{}", ref: "m1",
      });
    }
    await bob.send("alice", "x");
    const [, message] = await next(alice, 2);
    assert.match(message.ref, /^\w{10,64}$/);
  });

  test("a message that was left behind is taken, and one in hand is not", async () => {
    const sender = client("dave", { messages: undefined });
    // Together more than a session is sent at a time.
    const bodies = Array.from({ length: 6 }, (_, index) => index + "ü".repeat(12_000));
    await Promise.all(bodies.map((body) => sender.send("erin", body)));
    const first = client("erin");
    assert.deepEqual(await texts(first, bodies[4]), bodies.slice(0, 5));
    // The next loop is given it again, and so is the next session.
    assert.deepEqual(await texts(first, bodies[4]), bodies.slice(4, 5));
    first.close();
    const second = client("erin", { device: "other" });
    assert.deepEqual(await texts(second, bodies[5]), bodies.slice(4));
  });

  test("what one session sends is seen by the others that ask for it", async () => {
    const sent = { sent: true };
    const phone = client("uma", { device: "phone", messages: sent });
    const tablet = client("uma", { device: "tablet", messages: sent });
    const found = [];
    const loop = (async () => {
      for await (const message of tablet.messages({ own: true })) {
        found.push(message);
        if (message.body === "last") return;
      }
    })();
    await until(tablet, () => tablet.condition === "connected");
    const { id, time } = await phone.send(["vera", "walt"], "one", { ref: "r1" });
    await client("vera", { messages: undefined }).send("uma", "two");
    await phone.send("vera", "three", { device: "pc" });
    await phone.send("vera", "last");
    await loop;
    assert.deepEqual(found[0], {
      id, to: ["vera", "walt"], fromDevice: "phone", time, body: "one", ref: "r1", own: true,
    });
    assert.deepEqual(found.map(({ body }) => body), ["one", "two", "three", "last"]);
    assert.deepEqual(found.map(({ own }) => own), [true, undefined, true, true]);
    assert.equal(found[2].device, "pc");
    assert.deepEqual(await texts(phone, "two"), ["two"], "not what it has sent");
    await assert.rejects(client("xena").messages({ own: true }).next(), TypeError);
  });

  test("a message for one device reaches no other", async () => {
    const sender = client("frank", { messages: undefined });
    await sender.send("gina", "for one", { device: "one" });
    await sender.send("gina", "for all");
    const two = client("gina", { device: "two" });
    assert.deepEqual(await texts(two, "for all"), ["for all"]);
    const one = client("gina", { device: "one" });
    assert.deepEqual(await texts(one, "for all"), ["for one", "for all"]);
  });

  test("what is set of a device is known to the service", async () => {
    const phone = client("otto", { device: "phone" });
    assert.deepEqual(await phone.setDevice({ alias: "o", tags: ["b", "a", "b"], pushAddress: "p" }),
      { device: "phone", alias: "o", tags: ["a", "b"], pushAddress: "p" });
    assert.deepEqual(await phone.setDevice({ alias: "", tags: [] }),
      { device: "phone", pushAddress: "p" });
    await assert.rejects(phone.setDevice({ tags: ["fine", "a.b"] }),
      ({ reason, code, data }) => reason === "invalid_tag" && code === 6005 && data.index === 1);
    await assert.rejects(phone.setDevice({}), { reason: "nothing_set", code: 6001 });
    await assert.rejects(phone.setDevice({ tags: 5 }), TypeError);
  });

  test("a message whose response is lost is given once", async () => {
    const line = await relay();
    let losses = 0;
    line.loses = (data) => data.includes('"recipients"') && ++losses <= 2;
    const sender = client("henry", { port: line.port, messages: undefined });
    const reader = client("ivan");
    const all = texts(reader, "last");
    await Promise.all(["one", "two", "last"].map((body) => sender.send("ivan", body)));
    assert.equal(losses, 5);
    assert.deepEqual(await all, ["one", "two", "last"]);
  });

  test("a rejected call rejects its promise, and what follows is sent", async () => {
    const sender = client("judy");
    const calls = [
      [["kim", "x".repeat(131_073)], { reason: "too_long", code: 414 }],
      [["kim", ""], { reason: "out_of_range", code: 414 }],
      [["kim", 5], { reason: "wrong_type", code: 414 }],
      [["kim"], { reason: "missing_field", code: 414 }],
      [["kim", "\ud83c"], { reason: "invalid_text", code: 414 }],
      [["kim", 5n], { reason: "invalid_text", code: 414 }],
      [[[], "x"], { reason: "out_of_range", code: 414 }],
      [[5, "x"], TypeError],
      [[" kim", "x"], { reason: "invalid_name", code: 414 }],
      [["kim", "x", { expiry: 59 }], { reason: "out_of_range", code: 414 }],
      [["kim", "x", { expiry: 0 }], { reason: "expired" }],
      [["kim", "x", { expiry: 60n }], TypeError],
      [["kim", "x", { ref: "" }], { reason: "out_of_range", code: 414 }],
      [[["kim", "larry"], "x", { device: "d" }], { reason: "out_of_range", code: 414 }],
    ];
    const rejected = calls.map(([args, why]) => assert.rejects(sender.send(...args), why));
    await Promise.all([...rejected, sender.send("kim", "last")]);
    assert.deepEqual(await texts(client("kim"), "last"), ["last"]);
    assert.equal(sender.condition, "connected");
    sender.close();
    await assert.rejects(sender.send("kim", "x"), { reason: "closed" });
  });

  test("a loop ends with its client, and needs the option", async () => {
    const reader = client("mallory");
    const all = next(reader, 1);
    reader.close();
    assert.equal(await all, undefined);
    await assert.rejects(client("nick", { messages: false }).messages().next(), /`messages`/);
  });

  test("through kill -9, what is sent is given once and in order", async () => {
    const own = await new Service("--rate-limits", "off");
    // The sender may be back before the reader.
    own.settings = { PORCHLIGHT_MESSAGES_PER_ACCOUNT_MAX: "1000" };
    ends.push(() => own.end());
    await own.start();
    const sender = client("oscar", { port: own.port, messages: undefined });
    const reader = client("pam", { port: own.port });
    const bodies = Array.from({ length: 200 }, (_, index) => String(index));
    const calls = bodies.map((body) => sender.send("pam", body));
    const found = [];
    for await (const { body } of reader.messages()) {
      found.push(body);
      // While others are in flight.
      if (found.length === 20 || found.length === 120) {
        await own.kill();
        await own.start();
      }
      if (body === bodies.at(-1)) break;
    }
    await Promise.all(calls);
    assert.deepEqual(found, bodies);
  });
});

test("a message whose take is lost is given once", { timeout, skip: isMissing }, async () => {
  const service = await new Service("--disconnect-grace", "0").start();
  const line = await new Relay().start(service.port);
  let losses = 0;
  line.loses = (data) => data.includes('"method":"take"') && ++losses <= 2;
  const options = { device: "test", messages: true };
  const reader = connect(`porchlight://127.0.0.1:${line.port}`, { account: "alice", ...options });
  const sender = connect(service.url, { account: "bob", ...options });
  for (const body of ["one", "two", "three", "last"]) await sender.send("alice", body);
  const found = [];
  for await (const { body } of reader.messages()) {
    found.push(body);
    // Each take is lost with its connection, and all that waits is sent again.
    if (body === "two") await until(reader, () => losses === 1 && reader.condition === "connected");
    if (body === "last") break;
  }
  assert.deepEqual(found, ["one", "two", "three", "last"]);
  for (const porchlight of [reader, sender]) porchlight.close({ logout: false });
  line.end();
  await service.end();
});
