// The examples of README.md, and of the project's, are valid, and call what exists. Its first page runs in Chromium, in
// test/browser.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Porchlight, Watch } from "../src/index.js";

const [project, page] = ["../../../README.md", "../README.md"]
  .map((path) => readFileSync(new URL(path, import.meta.url), "utf8"));
const blocks = [...`${project}\n${page}`.matchAll(/^```(?:js|html)\n(.*?)^```/gms)].map(([, text]) =>
  /<script type="module">(.*)<\/script>/s.exec(text)?.[1] ?? text);

test("examples are valid modules", () => {
  assert(blocks.length > 5);
  for (const input of blocks) {
    const options = ["--check", "--input-type=module", "-"];
    const { status, stderr } = spawnSync("node", options, { input });
    assert.equal(status, 0, `${input}\n${stderr}`);
  }
});

test("examples call what exists", () => {
  for (const [object, { prototype }] of [["porchlight", Porchlight], ["friends", Watch]]) {
    const names = [...(page + blocks.join()).matchAll(new RegExp(`(?<!/)\\b${object}\\.([a-zA-Z]+)`, "g"))];
    assert(names.length > 3);
    for (const [, name] of names) assert(name in prototype, `${object}.${name}`);
  }
});
