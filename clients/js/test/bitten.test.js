// BITTEN.md names tests that exist.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const page = new URL("../BITTEN.md", import.meta.url);

/** Whether a file has a test of this name. */
const has = (path, text, name) => path.endsWith(".py")
  ? new RegExp(`^def ${name}\\(world\\):`, "m").test(text)
    && new RegExp(`^CASES = \\[[^\\]]*\\b${name}\\b`, "m").test(text)
  : text.includes(`test(${JSON.stringify(name)},`);

test("each line names tests, and they exist", () => {
  const rows = readFileSync(page, "utf8").split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| elsewhere"));
  assert(rows.length > 15);
  for (const row of rows) {
    const tests = row.split(" | ").at(-1);
    // Names, and then the file that has them.
    const parts = [...tests.matchAll(/([^[\]]*)\[([\w.-]+)\]\(([^)]+)\)/g)];
    assert(parts.length > 0, row);
    for (const [, before, label, path] of parts) {
      const text = readFileSync(new URL(path, page), "utf8");
      assert(path.endsWith(`/${label}`), `${label} leads to ${path}`);
      const names = [...before.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
      assert.equal(names.length === 0, path.endsWith(".json"), `${label}: ${before}`);
      for (const name of names) assert(has(path, text, name), `${label} has no test "${name}"`);
    }
  }
});

test("a name that no test has is found", () => {
  const text = readFileSync(new URL("browser/cases.py", import.meta.url), "utf8");
  assert(has("cases.py", text, "hidden"));
  assert(!has("cases.py", text, "lives"), "it is no case");
  assert(!has("cases.py", text, "hid"));
  assert(!has("x.test.js", 'test("one thing", () => {', "one"));
});
