// porchlight/react with Debian's React, without a browser. It runs in Chromium in test/browser.
import assert from "node:assert/strict";
import { appendFileSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { settled, Stage } from "./stage.js";

const MODULES = process.env.NODE_MODULES ?? "/usr/share/nodejs";
const NEEDED = [
  "react", "react-dom", "react-is", "react-shallow-renderer", "react-test-renderer", "scheduler",
  "object-assign",
];
const missing = NEEDED.find((name) => !existsSync(join(MODULES, name, "package.json")));
const skip = missing ? `there is no ${join(MODULES, missing)}` : false;

/** A program that has the SDK and React as packages. */
const app = mkdtempSync(join(tmpdir(), "porchlight-"));
after(() => rmSync(app, { recursive: true }));

const load = async () => {
  const root = fileURLToPath(new URL("..", import.meta.url));
  for (const part of ["package.json", "src", "types"]) {
    cpSync(join(root, part), join(app, "node_modules", "porchlight", part), { recursive: true });
  }
  for (const name of NEEDED) {
    cpSync(join(MODULES, name), join(app, "node_modules", name), { recursive: true });
  }
  // What strict mode does to effects, which the test renderer leaves out.
  appendFileSync(join(app, "node_modules", "react", "cjs", "react.development.js"), `
    const { useEffect } = exports;
    exports.useEffect = (begin, dependencies) => useEffect(() => {
      begin()?.();
      return begin();
    }, dependencies);`);
  const file = join(app, "all.mjs");
  writeFileSync(file, `
    export * as React from "react";
    export * as SDK from "porchlight/react";
    export { default as renderer } from "react-test-renderer";
    export { default as server } from "react-dom/server";`);
  return import(pathToFileURL(file).href);
};

describe("React", { skip }, async () => {
  if (skip) return;
  globalThis.IS_REACT_ACT_ENVIRONMENT = true;
  const { React, SDK, renderer, server } = await load();
  const { createElement: h, StrictMode } = React;
  const { PorchlightProvider, useCondition, useMe, usePorchlight, usePresence } = SDK;
  const { act } = renderer;

  let stage, drawn, problems, watches;
  const { error } = console;
  beforeEach(() => {
    drawn = [];
    problems = [];
    watches = [];
    console.error = (...all) => problems.push(all.join(" "));
    stage = new Stage({ options: { account: "alice", device: "d" } });
    stage.asked = [];
    const { watch } = stage.porchlight;
    stage.porchlight.watch = function (...all) {
      const made = watch.apply(this, all);
      const { addEventListener } = made;
      made.listeners = 0;
      made.addEventListener = (...more) => {
        made.listeners += 1;
        addEventListener.apply(made, more);
      };
      watches.push(made);
      return made;
    };
  });
  afterEach(() => (console.error = error));

  /** Lets the service answer the login and each subscription, with all accounts offline. */
  const serve = () => act(async () => {
    await settled();
    if (!stage.started) await stage.step({ connects: [0, 0] });
    for (let seq = 1; ; seq++) {
      await settled();
      const request = stage.line.requests.shift();
      if (!request) return;
      const states = request.params.publishers?.map((publisher) => ({ publisher, seq }));
      stage.asked.push(...(request.params.publishers ?? []));
      stage.on_answers({ count: 1, states });
    }
  });
  const say = (...events) => act(async () => {
    stage.on_says({ method: "events", params: { events } });
    await settled();
  });
  // As createRoot of react-dom.
  const concurrent = { unstable_isConcurrent: true, unstable_strictMode: true };
  const online = [{ client: "ios", device: "phone" }];

  const Dot = ({ account }) => {
    const { is, live } = usePresence(account);
    drawn.push(account);
    return h("i", null, `${is}${live ? "" : " old"}`);
  };
  const provided = (...children) =>
    h(StrictMode, null, h(PorchlightProvider, { client: stage.porchlight }, ...children));
  const create = async (element) => {
    let root;
    await act(async () => (root = renderer.create(element, concurrent)));
    return root;
  };
  const texts = (root) => root.root.findAllByType("i").map(({ children }) => children.join(""));
  // Only here do two of React's renderers draw the same component.
  const clean = () =>
    assert.deepEqual(problems.filter((text) => !text.includes("multiple renderers")), []);

  test("a component shows an account, and is drawn for it alone", async () => {
    const root = await create(provided(h(Dot, { account: "bob" }), h(Dot, { account: "carol" })));
    assert.deepEqual(texts(root), ["unknown old", "unknown old"]);
    await serve();
    assert.deepEqual(texts(root), ["offline", "offline"]);
    assert.deepEqual(stage.asked, ["bob", "carol"], "each is asked for once");
    drawn = [];
    await say({ publisher: "bob", seq: 9, online });
    assert.deepEqual(texts(root), ["online", "offline"]);
    assert.deepEqual([...new Set(drawn)], ["bob"]);
    await act(async () => stage.line.lose());
    assert.deepEqual(texts(root), ["online old", "offline old"]);
    await act(async () => root.unmount());
    clean();
  });

  test("a thousand components of one account are one listener, and one subscription", async () => {
    const dots = Array.from({ length: 1_000 }, (_, key) => h(Dot, { account: "bob", key }));
    const root = await create(provided(dots));
    await serve();
    assert.deepEqual(stage.asked, ["bob"]);
    assert.deepEqual(watches.map(({ listeners }) => listeners), [1]);
    await say({ publisher: "bob", seq: 9, online });
    assert.deepEqual([...new Set(texts(root))], ["online"]);
    await act(async () => root.unmount());
    clean();
  });

  test("an account that is shown again stays watched, and one that is not is let go",
    async (context) => {
      context.mock.timers.enable({ apis: ["setTimeout"] });
      const list = (...accounts) =>
        provided(accounts.map((account) => h(Dot, { account, key: account })));
      const root = await create(list("bob", "carol"));
      await serve();
      const [watch] = watches;
      await act(async () => root.update(list("carol")));
      await act(async () => root.update(list("bob")));
      context.mock.timers.tick(2_000);
      assert.deepEqual([...watch.keys()], ["bob"]);
      assert.deepEqual(texts(root), ["offline"]);
      await act(async () => root.unmount());
      context.mock.timers.tick(2_000);
      assert.equal(watch.size, 0);
      assert.deepEqual(stage.asked, ["bob", "carol"]);
      clean();
    });

  test("a component may show another account", async () => {
    const root = await create(provided(h(Dot, { account: "bob" })));
    await serve();
    await say({ publisher: "bob", seq: 9, online });
    await act(async () => root.update(provided(h(Dot, { account: "carol" }))));
    assert.deepEqual(texts(root), ["unknown old"], "not what was known of bob");
    await serve();
    assert.deepEqual(texts(root), ["offline"]);
    await act(async () => root.unmount());
    clean();
  });

  test("one's own presence, and the condition", async () => {
    const Me = () => h("i", null, `${useCondition()} ${useMe()?.is} ${usePorchlight()?.account}`);
    const root = await create(provided(h(Me)));
    assert.deepEqual(texts(root), ["connecting undefined undefined"]);
    await serve();
    assert.deepEqual(texts(root), ["connected offline alice"]);
    await say({ publisher: "alice", seq: 9, online });
    assert.deepEqual(texts(root), ["connected online alice"]);
    await act(async () => stage.line.lose());
    assert.deepEqual(texts(root), ["waiting online alice"]);
    await act(async () => root.unmount());
    clean();
  });

  test("a client of the provider's own is connected once in strict mode, and closed with it",
    async () => {
      let connections = 0;
      const connect = () => {
        connections += 1;
        return stage.porchlight;
      };
      const element = (connect) => h(StrictMode, null,
        h(PorchlightProvider, { connect }, h(Dot, { account: "bob" })));
      const root = await create(element(connect));
      // A function that is written in place is a new one.
      await act(async () => root.update(element(() => connect())));
      await serve();
      assert.deepEqual(texts(root), ["offline"]);
      await new Promise((resolve) => setTimeout(resolve));
      assert.equal(connections, 1);
      assert.equal(stage.porchlight.condition, "connected");
      await act(async () => root.unmount());
      await new Promise((resolve) => setTimeout(resolve));
      assert.equal(stage.porchlight.condition, "closed");
      clean();
    });

  test("a server renders what is not known yet, and connects nothing", async () => {
    const connect = () => assert.fail("it connects");
    const Me = () => h("b", null, `${useCondition()} ${useMe()?.is}`);
    for (const props of [{ connect }, { client: null }, { client: stage.porchlight }]) {
      const element = h(PorchlightProvider, props, h(Dot, { account: "bob" }), h(Me));
      assert.equal(server.renderToString(h(StrictMode, null, element)),
        "<i>unknown old</i><b>connecting undefined</b>");
    }
    await settled();
    clean();
  });

  test("without a provider it is said what is missing", async () => {
    await assert.rejects(create(h(Dot, { account: "bob" })), /PorchlightProvider/);
    assert.throws(() => server.renderToString(h(Dot, { account: "bob" })), /PorchlightProvider/);
  });
});
