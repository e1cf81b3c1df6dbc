// Frames of the native protocol, however the bytes are cut.
import assert from "node:assert/strict";
import net from "node:net";
import { after, before, describe, test } from "node:test";
import { lost } from "../src/connection.js";
import { open } from "../src/native.js";
import { connect } from "../src/node.js";

const frame = (text) => {
  const body = Buffer.from(text);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
};

describe("the native protocol", { timeout: 20_000 }, () => {
  const server = net.createServer();
  let url;
  before(async () => {
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `porchlight://127.0.0.1:${server.address().port}`;
  });
  after(() => server.close());

  const accept = () => new Promise((resolve) => server.once("connection", resolve));
  const messages = ["", "{}", "ü".repeat(40_000), "", "☕", "x".repeat(70_000)];

  for (const size of [1, 3, 5, 1_000, 1_000_000]) {
    test(`in pieces of ${size} bytes`, async () => {
      const seen = [];
      const isDone = new Promise((resolve) => {
        open(url, {
          opened: () => seen.push("opened"),
          received: (message) => seen.push(message),
          closed: () => resolve(),
        });
      });
      const socket = await accept();
      socket.setNoDelay(true);
      const bytes = Buffer.concat(messages.map(frame));
      for (let at = 0; at < bytes.length; at += size) {
        const isSent = socket.write(bytes.subarray(at, at + size));
        if (!isSent || at < 50) await new Promise(setImmediate);
      }
      socket.end();
      await isDone;
      assert.deepEqual(seen, ["opened", ...messages]);
    });
  }

  test("what is sent has the length of its bytes; nothing is reported after close", async () => {
    const seen = [];
    const wire = open(url, {
      opened: () => {
        wire.send("ü☕");
        wire.send("");
      },
      received: (message) => {
        seen.push(message);
        wire.close();
      },
      closed: () => seen.push("closed"),
    });
    const socket = await accept();
    let heard = Buffer.alloc(0);
    socket.on("data", (data) => {
      heard = Buffer.concat([heard, data]);
      if (heard.length === 13) socket.write(Buffer.concat([frame("one"), frame("two")]));
    });
    socket.on("error", () => {});
    await new Promise((resolve) => socket.once("close", resolve));
    assert.deepEqual(heard, Buffer.concat([frame("ü☕"), frame("")]));
    assert.deepEqual(seen, ["one"]);
  });

  test("a length that no service sends ends the connection", async () => {
    const isClosed = new Promise((closed) => {
      open(url, { opened: () => {}, received: assert.fail, closed: (...all) => closed(all[2]) });
    });
    const socket = await accept();
    socket.on("error", () => {});
    socket.write("HTTP/1.1 400 Bad Request\r\n\r\n");
    assert.equal((await isClosed).message, "This is not the native protocol.");
  });

  test("the cause of a failure to connect is reported", async () => {
    const other = net.createServer();
    await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address();
    await new Promise((resolve) => other.close(resolve));
    for (const host of ["127.0.0.1", "localhost"]) {
      const cause = await new Promise((closed) => {
        open(`porchlight://${host}:${port}`, {
          opened: assert.fail, received: assert.fail, closed: (...all) => closed(all[2]),
        });
      });
      assert.equal(cause.code, "ECONNREFUSED");
      // With several addresses, the error of Node has no message.
      assert.match(lost(cause).message, /^No connection: .*ECONNREFUSED/);
      assert.equal(lost(cause).cause, cause);
    }
  });

  test("the option `tls` is not ignored in silence", () => {
    for (const scheme of ["porchlight", "wss"]) {
      const tls = { ca: "" };
      assert.throws(() => connect(`${scheme}://localhost`, { account: "a", tls }), TypeError);
    }
  });
});
