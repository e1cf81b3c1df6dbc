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
