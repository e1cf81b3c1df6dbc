// What an app may pass, and what a peer may send, without ending the process.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Stage, settled } from "./stage.js";

const options = { account: "alice", device: "tab-1" };

/** A client that is logged in. */
const session = async () => {
  const stage = new Stage({ options });
  const params = { ...options, client: "web", sync: "none" };
  await stage.play([{ connects: [0, 0] }, { hears: { method: "login", params } }, { answers: {} }]);
  return stage;
};

test("a value that is not JSON is rejected, and later ones are not", async () => {
  const stage = await session();
  const { porchlight } = stage;
  await assert.rejects(porchlight.setStatus(10_001n), { reason: "invalid_text", code: 414 });
  await assert.rejects(porchlight.setStatus(10_001, { seconds: 60n }), TypeError);
  const done = porchlight.setStatus(10_002);
  const publish = { method: "publish", params: { type: 1, value: 10_002 } };
  await stage.play([{ hears: publish }, { answers: {} }]);
  await done;
});

test("a binary message is a lost connection", async () => {
  for (const message of [new ArrayBuffer(2), new Blob(["{}"]), Buffer.alloc(0)]) {
    const { line, porchlight } = await session();
    line.events.received(message);
    await settled();
    assert.deepEqual([porchlight.condition, porchlight.error.reason], ["waiting", "lost"]);
  }
});

test("whatever a token function returns, it is called again", async () => {
  const bad = [
    undefined, null, { error: "busy" }, "x".repeat(20_000), "\ud83c", "<html>", Symbol("x"), 5n,
  ];
  const seen = [];
  const token = () => bad.length ? bad.shift() : "t1";
  const stage = new Stage({ options: { device: "tab-1", token } });
  const { porchlight } = stage;
  porchlight.addEventListener("change", () => {
    if (porchlight.condition !== "connecting") seen.push(porchlight.error.message);
  });
  const isHeard = () => {
    if (stage.line && !stage.line.isAccepted) {
      stage.line.isAccepted = true;
      stage.line.events.opened();
    }
    return stage.line?.requests.length;
  };
  assert(await stage.clock.run(isHeard, stage.clock.now + 300_000));
  assert.equal(stage.line.requests[0].params.token, "t1");
  assert.equal(seen.length, 8);
  assert.deepEqual([...new Set(seen)], [
    "No token: token() did not return a JWT.",
    "No token: Do not know how to serialize a BigInt",
  ]);
});
