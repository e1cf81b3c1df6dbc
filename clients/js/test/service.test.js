// The SDK against the real service, by the native protocol and by WebSocket.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { SignedOut, connect } from "../src/node.js";
import { Service, binary, until } from "./service.js";

const timeout = 30_000;
const isMissing = binary ? false : "PORCHLIGHT_BIN is not set";

/** Whether the service speaks WebSocket: then it names it to a request that is none. */
const hasNoWebSocket = async () => {
  if (isMissing) return isMissing;
  if (!globalThis.WebSocket) return "this runtime has no WebSocket";
  const service = await new Service().start();
  const { status } = await fetch(`http://127.0.0.1:${service.port}/v1/socket`);
  await service.end();
  return status === 426 ? false : "the service has no WebSocket";
};

const all = (watch, condition) => until(watch, () => [...watch.values()].every(condition));
const one = (watch, account, condition) => until(watch, () => condition(watch.get(account)));

const transports = [["native", isMissing], ["ws", await hasNoWebSocket()]];
for (const [transport, skip] of transports) describe(`by ${transport}`, { timeout, skip }, () => {
  let service;
  const clients = [];
  const client = (account, options) => {
    const url = transport === "ws" ? service.webSocket : service.url;
    const porchlight = connect(url, { account, device: "test", ...options });
    clients.push(porchlight);
    return porchlight;
  };

  before(async () => {
    service = await new Service("--disconnect-grace", "0", "--restart-grace", "10").start();
  });
  after(async () => {
    for (const porchlight of clients) porchlight.close({ logout: false });
    await service.end();
  });

  test("login, status and logout reach a subscriber", async () => {
    const alice = client("alice");
    const friends = alice.watch(["bob", "carol"]);
    await all(friends, (presence) => presence.live);
    assert.deepEqual([friends.get("bob").is, friends.get("carol").is], ["offline", "offline"]);

    const bob = client("bob", { client: "ios", device: "phone" });
    await one(friends, "bob", (presence) => presence.is === "online");
    assert.deepEqual(friends.get("bob").devices, [{ client: "ios", device: "phone" }]);
    assert.equal(friends.get("bob").cause, "login");

    await bob.setStatus(10_001, { text: "in a meeting ☕", seconds: 600 });
    await one(friends, "bob", (presence) => presence.status);
    const { value, text, expires } = friends.get("bob").status;
    assert.deepEqual([value, text], [10_001, "in a meeting ☕"]);
    assert(expires > Date.now() + 500_000);

    await bob.clearStatus();
    await one(friends, "bob", (presence) => !presence.status);
    bob.close();
    await one(friends, "bob", (presence) => presence.is === "offline");
    assert.equal(friends.get("bob").cause, "logout");
    assert(friends.get("bob").lastSeen);
    assert.equal(bob.condition, "closed");
  });

  test("a status ends with the session, and how a device presents itself does", async () => {
    const friends = client("anna").watch(["berta"]);
    assert.equal(await friends.ready, true);
    const [desk, phone] = ["desk", "phone"].map((device) => client("berta", { device }));
    await desk.setStatus(10_001, { text: "busy", whileOnline: true });
    await desk.setAvailability({ show: "away" });
    await one(friends, "berta", ({ is, devices }) => is === "online" && devices.length === 2);
    await phone.setAvailability({ show: "xa", text: "asleep" });
    await one(friends, "berta", ({ is }) => is === "away");
    await phone.setAvailability({ show: "dnd", priority: 5 });
    await one(friends, "berta", ({ is }) => is === "online");
    const { show, priority } = friends.get("berta").devices.find(({ device }) => device === "phone");
    assert.deepEqual([show, priority], ["dnd", 5]);
    assert.equal(friends.get("berta").status.text, "busy");
    desk.close();
    await one(friends, "berta", ({ status, devices }) => !status && devices.length === 1);
    assert.equal(await phone.setVisibility("hidden"), "hidden");
    await one(friends, "berta", ({ cause }) => cause === "hidden");
    assert.equal(await phone.setVisibility("default"), "open");
    await one(friends, "berta", ({ is }) => is === "online");
    phone.close();
  });

  test("1,000 accounts with long names and texts, in answers of several frames", async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `${index}-${"ü".repeat(50)}`);
    const text = "\u{1F4A1}".repeat(1_000);
    const publishers = names.slice(0, 20).map((account) => client(account));
    await Promise.all(publishers.map((publisher) => publisher.setStatus(10_001, { text })));
    const all_ = client("dave").watch(names);
    await all(all_, (presence) => presence.live);
    assert.equal(all_.size, 1_000);
    for (const name of names.slice(0, 20)) assert.equal(all_.get(name).status.text, text);
  });

  test("an invalid name does not hurt the others", async () => {
    const erin = client("erin");
    const watch = erin.watch(["a", "b", " c", "", "x".repeat(200), "d"]);
    await until(watch, () => ["a", "b", "d"].every((name) => watch.get(name).live));
    assert.equal(watch.get(" c").live, false);
    assert.equal(erin.condition, "connected");
  });

  test("the same device elsewhere ends the older client", async () => {
    const first = client("frank");
    await until(first, () => first.condition === "connected");
    const second = client("frank");
    await until(first, () => first.condition === "closed");
    assert.equal(first.error.reason, "replaced");
    assert.equal(second.error, undefined);
  });

  test("at the quota, what is no longer wanted gives room", async () => {
    const gina = client("gina");
    const names = (from) => Array.from({ length: 2_900 }, (_, index) => "q" + (from + index));
    const first = gina.watch(names(0));
    await all(first, (presence) => presence.live);
    first.close();
    const second = gina.watch(names(2_800));
    // What is known of 100 of them is shown, not as current.
    const known = [...second.values()].filter(({ is, live }) => is === "offline" && !live);
    assert.equal(known.length, 100);
    await all(second, (presence) => presence.live);
  });

  test("what is too long is rejected before it is sent", async () => {
    const henry = client("henry");
    for (const length of [5_000, 70_000]) {
      const text = "x".repeat(length);
      await assert.rejects(henry.setStatus(10_001, { text }), { reason: "too_long" });
    }
    await assert.rejects(henry.setStatus(5), { reason: "reserved_value" });
    assert.equal(henry.condition, "connected");
  });

  test("for await gives the whole map first, then changes", async () => {
    const watch = client("ivan").watch(["judy", "kim"]);
    const seen = [];
    let judy;
    for await (const changes of watch) {
      seen.push([...changes.keys()]);
      if ([...watch.values()].every(({ live }) => live) && !judy) judy = client("judy");
      if (watch.get("judy").is === "online") break;
    }
    assert.deepEqual(seen[0], ["judy", "kim"]);
    assert.deepEqual(seen.at(-1), ["judy"]);
    judy.close();
    for await (const changes of judy.watch(["kim"])) assert.equal(changes.get("kim").live, false);
  });

  test("after kill -9 all is current again", async () => {
    const larry = client("larry", { client: "web" });
    const mallory = client("mallory");
    const watch = larry.watch(["mallory", "nick"]);
    await one(watch, "mallory", (presence) => presence.is === "online");
    const conditions = [];
    larry.addEventListener("change", () => conditions.push(larry.condition));
    await service.kill();
    await all(watch, (presence) => !presence.live);
    assert.equal(watch.get("mallory").is, "online");
    await service.start();
    await all(watch, (presence) => presence.live);
    await until(mallory, () => mallory.condition === "connected");
    assert.equal(watch.get("mallory").is, "online");
    assert(conditions.includes("waiting"));
    assert.equal(conditions.at(-1), "connected");
  });

  test("a stopped service says when to come again", async () => {
    const oscar = client("oscar");
    await until(oscar, () => oscar.condition === "connected");
    // Before the service has ended, the client may have tried to come back, in vain.
    const reason = until(oscar, () => oscar.condition === "waiting").then(() => oscar.error);
    await service.kill("SIGTERM");
    assert.equal((await reason).reason, "shutting_down");
    assert.equal((await reason).code, 4503);
    await service.start();
    await until(oscar, () => oscar.condition === "connected");
    assert.equal(oscar.error, undefined);
  });
});

describe("a service with tokens", { timeout, skip: isMissing }, () => {
  const folder = mkdtempSync(join(tmpdir(), "porchlight-"));
  const secret = join(folder, "secret");
  writeFileSync(secret, randomBytes(32).toString("hex"), { mode: 0o600 });
  let service;
  const token = (account, time) => {
    const { stdout } = spawnSync(binary, ["token", account, "--key", secret, "--for", time]);
    return stdout.toString().trim();
  };
  before(async () => {
    service = await new Service("--auth", "jwt", "--jwt-key", secret).start();
  });
  after(async () => {
    await service.end();
    rmSync(folder, { recursive: true });
  });

  test("tokens come from a callback, and are refreshed", async () => {
    let count = 0;
    let second;
    const isRefreshed = new Promise((resolve) => (second = resolve));
    const pam = connect(service.url, {
      device: "test",
      token: () => {
        count += 1;
        if (count === 2) second();
        // A minute before the end of the first is now; 5 seconds are the least.
        return token("pam", count === 1 ? "8s" : "1h");
      },
    });
    await until(pam, () => pam.condition === "connected");
    assert.equal(count, 1);
    const watch = pam.watch("pam");
    await one(watch, "pam", (presence) => presence.is === "online");
    await isRefreshed;
    assert.equal(pam.condition, "connected");
    pam.close();
  });

  test("an account without a token is an error, not a loop, and the console says so", async () => {
    const { warn } = console;
    const warnings = [];
    console.warn = (text) => warnings.push(text);
    const quentin = connect(service.url, { account: "quentin", device: "test" });
    await until(quentin, () => quentin.condition === "closed");
    console.warn = warn;
    assert.deepEqual(warnings, [`Porchlight is closed: ${quentin.error.message}`]);
    assert.equal(quentin.error.code, 401);
    await assert.rejects(quentin.setStatus(10_001), { code: 401 });
  });

  test("a user who signs out is logged out for good", async () => {
    let isSignedOut = false;
    const olga = connect(service.url, {
      device: "test",
      token: () => {
        if (isSignedOut) throw new SignedOut();
        return token("olga", "8s");
      },
    });
    await until(olga, () => olga.condition === "connected");
    isSignedOut = true;
    await until(olga, () => olga.condition === "closed");
    assert.equal(olga.error.reason, "signed_out");
    assert(olga.error instanceof SignedOut);
    await assert.rejects(olga.setStatus(10_001), { reason: "signed_out" });
  });

  test("an invalid token is tried again with a new one", async () => {
    let count = 0;
    const rob = connect(service.url, {
      device: "test", token: () => (++count === 1 ? "nonsense" : token("rob", "1h")),
    });
    await until(rob, () => rob.condition === "connected");
    assert.equal(count, 2);
    rob.close();
  });
});

test("an address where nothing listens is tried again", { timeout: 10_000 }, async () => {
  const server = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  const porchlight = connect(`porchlight://127.0.0.1:${port}`, { account: "alice" });
  await until(porchlight, () => porchlight.condition === "waiting");
  assert.equal(porchlight.error.reason, "lost");
  porchlight.close();
});

test("a client that is closed while it connects does not stay", { timeout: 10_000 }, async () => {
  const porchlight = connect("porchlight://127.0.0.1:1", { account: "alice" });
  porchlight.close();
  assert.equal(porchlight.condition, "closed");
  await assert.rejects(porchlight.setStatus(10_001), { reason: "closed" });
});

test("an address is checked at once", () => {
  assert.throws(() => connect("not an address"), TypeError);
});
