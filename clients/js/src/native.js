// @ts-check
import net from "node:net";
import tls from "node:tls";

/** @typedef {import("./connection.js").WireEvents} WireEvents */
/** @typedef {import("./connection.js").Wire} Wire */
/** @typedef {import("./porchlight.js").TLSOptions} TLSOptions */

/** Bytes in the body of a frame from the service: more is not from a Porchlight. */
const BODY_MAX = 16 * 1024 * 1024;

/**
 * The native protocol: frames with a length of four bytes, over TCP (`porchlight:`) or TLS
 * (`porchlights:`).
 * @param {string} url
 * @param {WireEvents} events
 * @param {TLSOptions} options
 * @returns {Wire}
 */
export const open = (url, { opened, received, closed }, { ca, servername } = {}) => {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = protocol === "porchlights:"
    ? tls.connect({
        host,
        port: Number(port || 7443),
        ca,
        servername: servername ?? (net.isIP(host) ? "" : host),
        ALPNProtocols: ["porchlight"],
      }, opened)
    : net.connect(Number(port || 7400), host, opened);
  let isOver = false;
  /** @type {Buffer[]} */ let chunks = [];
  let length = 0;

  const close = () => {
    isOver = true;
    socket.destroy();
  };
  /** @param {Error} [cause] */
  const end = (cause) => {
    if (isOver) return;
    close();
    closed(0, "", cause);
  };

  socket.setNoDelay(true);
  socket.on("error", end);
  socket.on("close", () => end());
  socket.on("data", (chunk) => {
    chunks.push(chunk);
    length += chunk.length;
    while (!isOver && length >= 4) {
      if (chunks[0].length < 4) chunks = [Buffer.concat(chunks)];
      const body = chunks[0].readUInt32BE(0);
      if (body > BODY_MAX) return end(new Error("This is not the native protocol."));
      if (length < 4 + body) return;
      const all = chunks.length > 1 ? Buffer.concat(chunks) : chunks[0];
      length -= 4 + body;
      chunks = length ? [all.subarray(4 + body)] : [];
      received(all.toString("utf8", 4, 4 + body));
    }
  });
  return {
    send(message) {
      const size = Buffer.byteLength(message);
      const frame = Buffer.allocUnsafe(4 + size);
      frame.writeUInt32BE(size, 0);
      frame.write(message, 4);
      socket.write(frame);
    },
    close,
  };
};
