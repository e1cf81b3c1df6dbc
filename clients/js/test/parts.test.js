// What is loaded only when it is needed, and what the option `debug` says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { settled, Stage } from "./stage.js";

const connected = async (stage) => {
  await stage.step({ connects: [0, 0] });
  await settled();
  stage.line.requests.shift();
  await stage.step({ answers: {} });
  await settled();
};

/** The next request that the service has heard. */
const heard = async (stage) => {
  await settled();
  return stage.line.requests.shift();
};

/** Parts that cannot be loaded at the first attempt. */
const unreachable = (stage, name) => {
  const { parts } = stage.environment;
  const load = parts[name];
  let attempts = 0;
  parts[name] = async () => {
    attempts += 1;
    if (attempts === 1) throw new TypeError("Failed to fetch dynamically imported module");
    return load();
  };
};

test("a page that watches and sets a status loads nothing", async () => {
  const stage = new Stage({ options: { account: "alice", device: "d" } });
  for (const name of Object.keys(stage.environment.parts)) {
    stage.environment.parts[name] = () => assert.fail(`it loads ${name}`);
  }
  stage.porchlight.watch(["bob"]);
  stage.porchlight.setStatus(10_001).catch(() => {});
  stage.porchlight.setAvailability({ show: "dnd" }).catch(() => {});
  await connected(stage);
  assert.equal((await heard(stage)).method, "subscribe");
  assert.equal((await heard(stage)).method, "publish");
  assert.equal((await heard(stage)).method, "setAvailability");
  stage.porchlight.close();
});

test("a call whose part cannot be loaded is rejected, and the next one loads it", async () => {
  const stage = new Stage({ options: { account: "alice", device: "d" } });
  unreachable(stage, "messages");
  await connected(stage);
  await assert.rejects(stage.porchlight.send("bob", "hi"), ({ reason, cause }) =>
    reason === "lost" && cause instanceof TypeError);
  stage.porchlight.send("bob", "hi").catch(() => {});
  assert.equal((await heard(stage)).method, "send");
  stage.porchlight.close();
});

test("without the part for an option there is no session: it is loaded again", async () => {
  const options = { account: "alice", device: "d", messages: true };
  const stage = new Stage({ options });
  unreachable(stage, "messages");
  await settled();
  await stage.step({ condition: "waiting", reason: "lost" });
  await stage.step({ connects: [0, 3] });
  assert.equal((await heard(stage)).params.messages, true);
  stage.porchlight.close();
});

test("a part that is loaded after the client was closed ends", async () => {
  const stage = new Stage({ options: { account: "alice", device: "d" } });
  const sent = stage.porchlight.send("bob", "hi");
  const held = stage.porchlight.setStatus(10_001, { whileOnline: true });
  stage.porchlight.close();
  await assert.rejects(sent, { reason: "closed" });
  await assert.rejects(held, { reason: "closed" });
  assert.equal(stage.clock.timers.size, 0);
});

test("debug says what happens, without secrets", async () => {
  const lines = [];
  const options = {
    device: "secret-device", debug: (line) => lines.push(line), messages: true,
  };
  const stage = new Stage({ options, tokens: ["h.secret-token.s"] });
  const { porchlight } = stage;
  porchlight.watch(["secret-friend"]);
  await connected(stage);
  await heard(stage);
  await stage.step({ answers: { count: 1, states: [] } });
  await stage.step({ passes: 1 });
  porchlight.setStatus(10_001, { text: "secret-text" });
  await heard(stage);
  stage.clock.now += 7;
  await stage.step({ answers: {} });
  await settled();
  porchlight.send("secret-friend", "secret-body").catch(() => {});
  await heard(stage);
  await stage.step({ rejects: { code: 419, data: { reason: "inbox_full" } } });
  const event = { publisher: "secret-friend", seq: 5, status: { value: 10_001, ext: "secret-ext" } };
  await stage.step({ says: { method: "events", params: { events: [event] } } });
  await stage.step({ closes: { code: 4503, reason: "shutting_down", retryAfter: 1 } });
  await settled();
  porchlight.close();
  await settled();
  const wait = lines.find((line) => line.startsWith("waiting"));
  assert.match(wait, /^waiting, shutting_down, next attempt in 1\d{3} ms$/);
  assert.deepEqual(lines, [
    "connecting", "connection opened", "> login", "< login: ok (0 ms)", "> subscribe 1", "connected",
    "< subscribe: ok (0 ms)", "> publish", "< publish: ok (7 ms)", "> send",
    "< send: 419 inbox_full (0 ms)", "< events 1", "< close shutting_down", wait, "closed",
  ]);
  assert(!lines.join().includes("secret"), lines.join("\n"));
});

test("debug: true prints to the console", async (context) => {
  const { debug } = console;
  context.after(() => (console.debug = debug));
  const lines = [];
  console.debug = (line) => lines.push(line);
  const stage = new Stage({ options: { account: "alice", device: "d", debug: true } });
  await connected(stage);
  assert.equal(lines[0], "Porchlight: connecting");
  stage.line.events.received("\u0000");
  await settled();
  assert(lines.includes("Porchlight: < something that is not of the protocol"));
  stage.porchlight.close();
});
