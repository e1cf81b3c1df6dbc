// How an app of this runtime gets the SDK: as a package, and in Deno from the service.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Service, binary } from "./service.js";

const skip = binary ? false : "PORCHLIGHT_BIN is not set";

describe("an app", { timeout: 30_000, skip }, () => {
  const app = mkdtempSync(join(tmpdir(), "porchlight-"));
  let service;
  before(async () => {
    const root = fileURLToPath(new URL("..", import.meta.url));
    for (const part of ["package.json", "src", "types"]) {
      cpSync(join(root, part), join(app, "node_modules", "porchlight", part), { recursive: true });
    }
    writeFileSync(join(app, "package.json"), '{ "type": "module" }');
    service = await new Service("--http", "127.0.0.1:0").start();
  });
  after(async () => {
    await service?.end();
    rmSync(app, { recursive: true });
  });

  /** What a program prints that imports the SDK from there and connects. */
  const output = async (name, from) => {
    const file = join(app, name);
    writeFileSync(file, `
      import { connect } from "${from}";
      const porchlight = connect("${service.url}", { account: "alice" });
      porchlight.addEventListener("change", () => {
        if (porchlight.condition === "connecting") return;
        console.log(porchlight.condition);
        process.exit();
      });`);
    const child = spawn(process.execPath, [file], {
      cwd: app, stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NODE_OPTIONS: "" },
    });
    let text = "";
    child.stdout.on("data", (data) => (text += data));
    await new Promise((resolve) => child.once("close", resolve));
    return text.trim();
  };

  test("imports the package, and gets the part for this runtime", async () => {
    assert.equal(await output("package.js", "porchlight"), "connected");
  });

  const isDeno = "Deno" in globalThis;
  test("checks its types with a newer TypeScript", { skip: isDeno ? false : "only in Deno" },
    async () => {
      cpSync(new URL("consumer.ts", import.meta.url), join(app, "consumer.ts"));
      const child = spawn(process.execPath, ["check", "consumer.ts"], { cwd: app });
      let text = "";
      child.stderr.on("data", (data) => (text += data));
      const code = await new Promise((resolve) => child.once("close", resolve));
      assert.equal(code, 0, text);
    });

  test("imports it from the service", { skip: isDeno ? false : "only in Deno" }, async () => {
    const from = `http://127.0.0.1:${service.httpPort}/sdk/node.js`;
    assert.equal(await output("service.js", from), "connected");
  });
});
