// The SDK by WebSocket: both entries, against a scripted peer. Node 20 needs
// NODE_OPTIONS=--experimental-websocket.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as browser from "../src/index.js";
import * as node from "../src/node.js";
import { until } from "./service.js";
import { limits } from "./stage.js";
import { WebSocketPeer } from "./websocket-peer.js";

const skip = globalThis.WebSocket ? false : "this runtime has no WebSocket";

describe("by WebSocket", { timeout: 20_000, skip }, () => {
  const service = new WebSocketPeer();
  let url;
  before(async () => (url = await service.listen()));
  after(() => service.end());

  /** Accepts a connection and its login. */
  const accept = async (client) => {
    const { request, peer } = await service.next();
    assert.equal(request.url, "/v1/socket");
    assert.equal(request.headers["sec-websocket-protocol"], "porchlight.v1");
    const { jsonrpc, id, method, params } = JSON.parse(await peer.next());
    assert.deepEqual([jsonrpc, method], ["2.0", "login"]);
    assert.equal(params.client, client);
    const time = Date.now();
    peer.say({ jsonrpc: "2.0", id, result: { heartbeat: 30, subscriptions: 0, time, limits } });
    return peer;
  };

  for (const [{ connect }, client] of [[browser, "web"], [node, "other"]]) {
    test(`as client ${client}`, async () => {
      const porchlight = connect(url, { account: "älice" });
      const watch = porchlight.watch(["bob"]);
      let peer = await accept(client);
      const { id, method } = JSON.parse(await peer.next());
      assert.equal(method, "subscribe");
      const state = {
        type: 1, publisher: "bob", value: 1, cause: "sync", id: "1", seq: 4, time: 1,
        online: [{ client: "ios", device: "phöne" }],
      };
      peer.say({ jsonrpc: "2.0", id, result: { expires: 1, count: 1, states: [state] } });
      await until(watch, () => watch.get("bob").live);
      assert.deepEqual(watch.get("bob").devices, [{ client: "ios", device: "phöne" }]);

      peer.cut();
      await until(porchlight, () => porchlight.condition === "waiting");
      assert.equal(watch.get("bob").live, false);
      peer = await accept(client);
      peer.close(4410, "kicked");
      await until(porchlight, () => porchlight.condition === "closed");
      assert.deepEqual([porchlight.error.code, porchlight.error.reason], [4410, "kicked"]);
    });
  }

  test("keep-alives are empty messages, and logout precedes the close", async () => {
    const porchlight = browser.connect(url, { account: "alice" });
    const { peer } = await service.next();
    const { id } = JSON.parse(await peer.next());
    const result = { heartbeat: 1, subscriptions: 0, time: Date.now(), limits };
    peer.say({ jsonrpc: "2.0", id, result });
    for (let count = 0; count < 3; count++) {
      assert.equal(await peer.next(), "");
      peer.say("");
    }
    porchlight.close();
    let message;
    do message = await peer.next(); while (message === "");
    assert.equal(JSON.parse(message).method, "logout");
    peer.say({ jsonrpc: "2.0", id: JSON.parse(message).id, result: {} });
    do message = await peer.next(); while (message === "");
    assert.equal(typeof message, "number");
  });
});

test("a runtime without WebSocket says so", { skip: globalThis.WebSocket && "it has one" }, () => {
  assert.throws(() => node.connect("wss://example.com/v1/socket"), /has no WebSocket/);
});
