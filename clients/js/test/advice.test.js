// What the developer is told, and mistakes that are corrected.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { corrected } from "../src/environment.js";
import { Stage } from "./stage.js";

afterEach(() => delete globalThis.location);

const options = { account: "alice", device: "tab-1" };
const params = { ...options, client: "web", sync: "none" };
const login = [{ connects: [0, 60] }, { hears: { method: "login", params } }];

test("an address of the HTTP protocol, and one without a path, are corrected", () => {
  for (const [given, wanted] of [
    ["https://example.com", "wss://example.com/v1/socket"],
    ["http://example.com:7400/", "ws://example.com:7400/v1/socket"],
    ["wss://example.com?x=1", "wss://example.com/v1/socket?x=1"],
    ["ws://[::1]:7400/", "ws://[::1]:7400/v1/socket"],
    ["HTTPS://Example.com/presence", "wss://example.com/presence"],
    ["wss://example.com/v1/socket", "wss://example.com/v1/socket"],
    [new URL("http://example.com"), "ws://example.com/v1/socket"],
    ["porchlight://example.com:7400", "porchlight://example.com:7400"],
    ["porchlights://example.com", "porchlights://example.com"],
  ]) {
    assert.equal(corrected(given), wanted);
  }
  for (const wrong of ["example.com/v1/socket", "", "/v1/socket"]) {
    assert.throws(() => corrected(wrong), TypeError);
  }
});

test("a token function that returns nothing is told once", async () => {
  const stage = new Stage({ options: { device: "tab-1", token: () => undefined } });
  assert.equal(await stage.clock.run(() => false, stage.clock.now + 300_000), false);
  assert.deepEqual(stage.warnings, [
    "Porchlight: No token: token() did not return a JWT.",
  ]);
});

test("a wrong path, and an origin that is rejected, are told once", async () => {
  globalThis.location = { origin: "https://app.example.com" };
  const stage = new Stage({ options });
  const lose = [...login, { loses: {} }];
  await stage.play([...lose, ...lose, ...lose]);
  assert.deepEqual(stage.warnings, [
    "Porchlight: No connection. Is wss://example.com/v1/socket a Porchlight, "
      + "with websocket-origin https://app.example.com?",
  ]);
});

test("each new reason is told: no service, then one that has too many sessions", async () => {
  const stage = new Stage({ options });
  const rejects = { code: 419, data: { reason: "session_quota", limit: 10 } };
  await stage.play([...login, { loses: {} }]);
  for (let count = 0; count < 3; count++) await stage.play([...login, { rejects }]);
  assert.deepEqual(stage.warnings, [
    "Porchlight: No connection. Is wss://example.com/v1/socket a Porchlight?",
    "Porchlight: No. Close other tabs or devices.",
  ]);
});

test("the loss of a session is not told, and a rejected subscription is, once", async () => {
  const stage = new Stage({ options });
  await stage.play([...login, { answers: {} }, { loses: {} }, ...login, { answers: {} }]);
  assert.deepEqual(stage.warnings, []);
  const watch = (name) => {
    const params = { type: 1, publishers: [name], expiry: 3600, sync: true };
    return [
      { watches: name, accounts: [name] }, { hears: { method: "subscribe", params } },
      { rejects: { code: 414, message: "Bad.", data: { reason: "invalid_name" } } },
    ];
  };
  await stage.play([...watch(" b"), ...watch(" c")]);
  assert.deepEqual(stage.warnings, ["Porchlight: Bad."]);
});

test("a program that ends each subscription at once causes few requests", async () => {
  const stage = new Stage({ options });
  await stage.play([...login, { answers: {} }]);
  const { porchlight, clock } = stage;
  porchlight.watch(["bob", "carol"]);
  let count = 0;
  await clock.run(() => {
    const { line } = stage;
    const request = line.unanswered.shift();
    if (request) {
      count += 1;
      const { publishers } = request.params;
      line.say({ id: request.id, result: { count: 2, states: [] } });
      line.say({ method: "expired", params: { type: 1, cause: "unsubscribed", publishers } });
    }
    return false;
  }, clock.now + 3_600_000);
  assert(count > 20 && count < 70, `${count} requests in an hour`);
  porchlight.close({ logout: false });
});
