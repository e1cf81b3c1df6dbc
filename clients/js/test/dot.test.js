// The parts of <porchlight-dot> that need no page. It runs in Chromium in test/browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PorchlightDot } from "../src/dot.js";

test("a server can import it", () => {
  assert.equal(globalThis.HTMLElement, undefined);
  assert.deepEqual(PorchlightDot.observedAttributes, ["account"]);
  PorchlightDot.use(null);
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
