// The service's side of a WebSocket (RFC 6455), as far as the tests need it.
import { createHash } from "node:crypto";
import { createServer } from "node:http";

const TEXT = 1;
const CLOSE = 8;

const frame = (opcode, body) => {
  const { length } = body;
  const head = length < 126 ? [length] : [126, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([128 | opcode, ...head]), body]);
};

/** One connection. `next()` is the next message of the client, or the code of its close. */
class Peer {
  #socket;
  #input = Buffer.alloc(0);
  #messages = [];
  #wake = () => {};

  constructor(socket) {
    this.#socket = socket;
    socket.on("error", () => {});
    socket.on("data", (data) => {
      this.#input = Buffer.concat([this.#input, data]);
      while (this.#parse());
      this.#wake();
    });
  }

  async next() {
    while (!this.#messages.length) await new Promise((resolve) => (this.#wake = resolve));
    return this.#messages.shift();
  }

  say(message) {
    this.#socket.write(frame(TEXT, Buffer.from(message && JSON.stringify(message))));
  }

  close(code, reason) {
    const body = Buffer.from(`  ${reason}`);
    body.writeUInt16BE(code);
    this.#socket.end(frame(CLOSE, body));
  }

  cut() {
    this.#socket.destroy();
  }

  #parse() {
    const input = this.#input;
    if (input.length < 6) return false;
    let [first, length] = input;
    let at = 2;
    length &= 127;
    if (length === 126) {
      length = input.readUInt16BE(2);
      at = 4;
    }
    if (input.length < at + 4 + length) return false;
    const mask = input.subarray(at, at + 4);
    const body = Buffer.from(input.subarray(at + 4, at + 4 + length));
    for (let index = 0; index < length; index++) body[index] ^= mask[index % 4];
    this.#input = input.subarray(at + 4 + length);
    if ((first & 15) === TEXT) this.#messages.push(body.toString());
    if ((first & 15) === CLOSE) this.#messages.push(length ? body.readUInt16BE(0) : 1005);
    return true;
  }
}

/** Listens; `next()` is the next connection, with the request that opened it. */
export class WebSocketPeer {
  #peers = [];
  #wake = () => {};
  #server = createServer();
  #sockets = [];

  async listen() {
    this.#server.on("upgrade", (request, socket) => {
      this.#sockets.push(socket);
      const accept = createHash("sha1")
        .update(request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
        .digest("base64");
      socket.write("HTTP/1.1 101 Switching Protocols\r\n"
        + "Upgrade: websocket\r\nConnection: Upgrade\r\n"
        + `Sec-WebSocket-Accept: ${accept}\r\n`
        + `Sec-WebSocket-Protocol: ${request.headers["sec-websocket-protocol"]}\r\n\r\n`);
      this.#peers.push({ request, peer: new Peer(socket) });
      this.#wake();
    });
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `ws://127.0.0.1:${this.#server.address().port}/v1/socket`;
  }

  async next() {
    while (!this.#peers.length) await new Promise((resolve) => (this.#wake = resolve));
    return this.#peers.shift();
  }

  end() {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
