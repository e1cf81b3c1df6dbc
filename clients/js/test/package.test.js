// What is published: its types, its size, its files.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";

/** Bytes of what `connect` needs in a browser, minified and compressed: 7 KiB. */
const SIZE_MAX = 7_168;

const EXPORTED = "Porchlight,PorchlightError,SignedOut,Watch,connect";
/** Loaded when they are needed. */
const PARTS = ["away", "contacts", "debug", "hold", "messages", "push"];

/** Where Debian has packages of Node. */
const MODULES = process.env.NODE_MODULES ?? "/usr/share/nodejs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "porchlight-js-"));
after(() => rmSync(folder, { recursive: true }));

const run = (command, args, options) => {
  const env = { ...process.env, NODE_OPTIONS: "" };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, env, ...options });
  assert.equal(status, 0, `${command}: ${stdout}${stderr}`);
  return stdout;
};

const without = (command) =>
  spawnSync(command, ["--version"]).status === 0 ? false : `there is no ${command}`;

/** Other versions of tsc emit the same types in other words. */
const otherTSC = () => {
  const { stdout } = spawnSync("tsc", ["--version"]);
  return /^Version 4\.8\./.test(String(stdout)) ? false : "the types are those of tsc 4.8";
};

test("the types are those that tsc emits", { skip: without("tsc") || otherTSC() }, () => {
  run("tsc", ["-p", ".", "--outDir", join(folder, "types")]);
  const emitted = readdirSync(join(folder, "types")).sort();
  assert.deepEqual(readdirSync(join(root, "types")).sort(), emitted, "run: tsc -p clients/js");
  for (const name of emitted) {
    const [now, committed] = [folder, root].map((at) =>
      readFileSync(join(at, "types", name), "utf8"));
    assert.equal(committed, now, `types/${name} is out of date; run: tsc -p clients/js`);
  }
});

test("the version is that of the service", () => {
  const text = readFileSync(join(root, "../../Sources/CommandSupport/ProgramVersion.swift"), "utf8");
  const [, version] = /programVersion = "(.*)"/.exec(text) ?? [];
  assert(version, "ProgramVersion.swift has no version");
  assert.equal(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version, version);
  const page = readFileSync(join(root, "README.md"), "utf8");
  assert(page.includes(`./porchlight-${version}.tgz`), `README.md does not install ${version}`);
});

test("an editor shows what each member is for", () => {
  const member = /^(export (function|class) |    (readonly |get )?\w+\??[(:])/;
  const inherited = /^    (addEventListener|removeEventListener|dispatchEvent|constructor|type|\w+Callback)\W/;
  for (const name of ["index", "porchlight", "watch", "error", "dot", "react", "contacts"]) {
    const lines = readFileSync(join(root, "types", `${name}.d.ts`), "utf8").split("\n");
    for (const [index, line] of lines.entries()) {
      if (!member.test(line) || inherited.test(line)) continue;
      assert.match(lines[index - 1], /\*\//, `${name}.d.ts: ${line.trim()}`);
    }
  }
});

const esbuild = (file, external = []) => run("esbuild", [
  "--bundle", "--minify", "--format=esm", ...external.map((name) => `--external:./${name}.js`),
  `src/${file}.js`,
]).toString();

const dist = (name) => readFileSync(join(root, "dist", name));

test("the part for browsers is small", (context) => {
  const size = dist("porchlight.min.js.gz").length;
  context.diagnostic(`${size} bytes`);
  assert(size <= SIZE_MAX, `${size} bytes are more than ${SIZE_MAX}`);
  assert(gzipSync(dist("porchlight.min.js"), { level: 9 }).length < SIZE_MAX + 100);
  for (const part of [...PARTS, "dot"]) {
    context.diagnostic(`${part}: ${gzipSync(dist(`${part}.min.js`), { level: 9 }).length} bytes`);
  }
});

test("the bundle is of these sources", async () => {
  const hash = createHash("sha256");
  for (const name of readdirSync(join(root, "src")).sort()) {
    hash.update(readFileSync(join(root, "src", name)));
  }
  const made = JSON.parse(dist("made.json").toString());
  assert.equal(made.sources, hash.digest("hex"), "run: clients/js/bundle");
  const text = dist("porchlight.min.js").toString();
  assert.equal(gunzipSync(dist("porchlight.min.js.gz")).toString(), text, "run: clients/js/bundle");
  const exported = Object.keys(await import("../dist/porchlight.min.js")).sort().join();
  assert.equal(exported, EXPORTED);
  const imported = [...text.matchAll(/import\("\.\/(\w+)\.min\.js"\)/g)].map(([, name]) => name);
  assert.deepEqual(imported, PARTS);
  assert.deepEqual(text.match(/\bimport\b/g)?.length, PARTS.length, "it imports something else");
  for (const part of PARTS) {
    assert(!/\bimport\b/.test(dist(`${part}.min.js`).toString()), `${part} imports something`);
    assert.deepEqual(Object.keys(await import(`../dist/${part}.min.js`)), 
      part === "contacts" ? ["Contacts", "begin"] : ["begin"]);
  }
  assert.deepEqual(Object.keys(await import("../dist/dot.min.js")), ["PorchlightDot"]);
  // Another version may write other bytes.
  const { stdout } = spawnSync("esbuild", ["--version"]);
  if (stdout?.toString().trim() !== made.esbuild) return;
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const expected = esbuild("index", PARTS).replace(/(import\("\.\/\w+)\.js"/g, '$1.min.js"');
  assert.equal(text, `/*! Porchlight ${version}, Apache-2.0 */\n${expected}`, "run: clients/js/bundle");
  for (const part of [...PARTS, "dot"]) {
    assert.equal(dist(`${part}.min.js`).toString(), esbuild(part), "run: clients/js/bundle");
  }
});

test("the part for browsers imports nothing of Node", () => {
  const seen = new Set();
  const follow = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    const text = readFileSync(join(root, "src", name), "utf8");
    for (const [, path] of text.matchAll(/^(?:import|export) .*from "(.*)";$/gm)) {
      assert(path.startsWith("./"), `${name} imports ${path}`);
      follow(path.slice(2));
    }
  };
  follow("index.js");
  assert(seen.has("websocket.js") && !seen.has("native.js"));
});

test("the package is complete, and can be imported", { skip: without("npm") }, () => {
  const home = join(folder, "home");
  mkdirSync(home);
  const env = { ...process.env, NODE_OPTIONS: "", HOME: home };
  const [pack] = JSON.parse(run("npm",
    ["pack", "--json", "--offline", "--ignore-scripts", "--pack-destination", folder], { env }));
  const files = pack.files.map(({ path }) => path).sort();
  const expected = ["LICENSE", "README.md", "package.json"];
  for (const part of ["src", "types"]) {
    for (const name of readdirSync(join(root, part))) expected.push(`${part}/${name}`);
  }
  assert.deepEqual(files, expected.sort());

  const app = join(folder, "app");
  const modules = join(app, "node_modules", "porchlight");
  mkdirSync(modules, { recursive: true });
  run("tar", ["-xzf", join(folder, pack.filename), "-C", modules, "--strip-components=1"]);
  for (const module of ["porchlight", "./node_modules/porchlight/src/index.js"]) {
    const script = `console.log(Object.keys(await import("${module}")).sort().join())`;
    const output = run("node", ["--input-type=module", "-e", script], { cwd: app });
    assert.equal(output.toString().trim(), EXPORTED);
  }
});

test("an app gets the types", { skip: without("tsc") }, (context) => {
  const app = join(folder, "typed");
  const modules = join(app, "node_modules", "porchlight");
  for (const part of ["src", "types"]) {
    mkdirSync(join(modules, part), { recursive: true });
    for (const name of readdirSync(join(root, part))) {
      copyFileSync(join(root, part, name), join(modules, part, name));
    }
  }
  copyFileSync(join(root, "package.json"), join(modules, "package.json"));
  for (const name of ["consumer.ts", "consumer-react.ts"]) {
    copyFileSync(join(root, "test", name), join(app, name));
  }
  writeFileSync(join(app, "package.json"), '{ "type": "module" }');
  const check = (file, ...options) => {
    for (const resolution of ["node16", "node"]) {
      run("tsc", [
        "--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom,dom.iterable",
        "--module", resolution === "node" ? "es2022" : "node16", "--moduleResolution", resolution,
        ...options, file,
      ], { cwd: app });
    }
  };
  check("consumer.ts");
  // Debian has the types of React, without those that they import.
  const types = join(MODULES, "@types", "react");
  if (!existsSync(types)) return context.diagnostic(`without those of React: there is no ${types}`);
  cpSync(types, join(app, "node_modules", "@types", "react"), { recursive: true });
  check("consumer-react.ts", "--skipLibCheck");
});
