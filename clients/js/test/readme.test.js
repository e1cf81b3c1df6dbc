// The examples of README.md, and of the project's, are valid, and call what exists. Its first page runs in Chromium, in
// test/browser.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Porchlight, Watch } from "../src/index.js";

const [project, page] = ["../../../README.md", "../README.md"]
  .map((path) => readFileSync(new URL(path, import.meta.url), "utf8"));
const blocks = [...`${project}\n${page}`.matchAll(/^```(?:js|html)\n(.*?)^```/gms)]
  .filter(([, text]) => !text.startsWith('<script type="importmap">'))
  .map(([, text]) => /<script type="module">(.*)<\/script>/s.exec(text)?.[1] ?? text);

test("examples are valid modules", () => {
  assert(blocks.length > 5);
  for (const input of blocks) {
    const options = ["--check", "--input-type=module", "-"];
    const { status, stderr } = spawnSync("node", options, { input });
    assert.equal(status, 0, `${input}\n${stderr}`);
  }
});

test("the import map names what the package exports, at the same address as the page", () => {
  const [, text] = /<script type="importmap">(.*?)<\/script>/s.exec(page);
  const { imports } = JSON.parse(text);
  const sdk = /import { connect } from "(http.*\/sdk\/)/.exec(page)[1];
  const { exports } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  for (const [name, key] of [["porchlight", "."], ["porchlight/react", "./react"]]) {
    assert.equal(imports[name], sdk + exports[key].default.replace("./src/", ""));
  }
});

test("examples call what exists", () => {
  for (const [object, { prototype }] of [["porchlight", Porchlight], ["friends", Watch]]) {
    const names = [...(page + blocks.join()).matchAll(new RegExp(`(?<!/)\\b${object}\\.([a-zA-Z]+)`, "g"))];
    assert(names.length > 3);
    for (const [, name] of names) assert(name in prototype, `${object}.${name}`);
  }
});
