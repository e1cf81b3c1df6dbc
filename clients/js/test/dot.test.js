// The parts of <porchlight-dot> that need no page. It runs in Chromium in test/browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PorchlightDot } from "../src/dot.js";
import { follower } from "../src/follow.js";
import { Stage } from "./stage.js";

test("a server can import it", () => {
  assert.equal(globalThis.HTMLElement, undefined);
  assert.deepEqual(PorchlightDot.observedAttributes, ["account"]);
  PorchlightDot.use(null);
});

test("the console names an account that cannot be one, once", (context) => {
  const warn = context.mock.method(console, "warn", () => {});
  const stage = new Stage({ options: { account: "alice", device: "d" } });
  const all = follower(stage.porchlight);
  const bad = [" bad ", "a\u0085b", "x".repeat(129), "é".repeat(65)];
  for (const account of ["bob", "x y", "é".repeat(64), ...bad, ...bad]) all.add(account, () => {});
  const told = warn.mock.calls.map(({ arguments: [text] }) => text);
  assert.equal(told.length, bad.length);
  for (const [index, text] of told.entries()) {
    assert(text.includes(JSON.stringify(bad[index])), text);
  }
  stage.porchlight.close();
});

test("a dot says what it shows", () => {
  const say = (presence) => PorchlightDot.text({ account: "bob", type: 1, devices: [], ...presence });
  const status = { value: 10_001, text: "in a meeting", expires: 0 };
  assert.equal(say({ is: "unknown", live: false }), "unknown");
  assert.equal(say({ is: "online", live: true }), "online");
  assert.equal(say({ is: "away", live: true, status }), "away, in a meeting");
  assert.equal(say({ is: "online", live: false }), "online, may be old");
  assert.equal(say({ is: "online", live: true, status: { value: 1, expires: 0 } }), "online");
});
