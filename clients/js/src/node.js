// @ts-check
import * as away from "./away.js";
import * as contacts from "./contacts.js";
import * as debug from "./debug.js";
import { common, corrected } from "./environment.js";
import * as hold from "./hold.js";
import * as messages from "./messages.js";
import { open as openNative } from "./native.js";
import { Porchlight } from "./porchlight.js";
import * as push from "./push.js";
import { open as openWebSocket } from "./websocket.js";

export { PorchlightError, SignedOut } from "./error.js";
export { Watch } from "./watch.js";
export { Porchlight };

/** @type {import("./connection.js").Parts} */
const parts = {
  away: async () => away,
  contacts: async () => contacts,
  debug: async () => debug,
  hold: async () => hold,
  messages: async () => messages,
  push: async () => push,
};

/** A new name for each client: pass `device` to keep one over restarts. */
const device = async () => ({
  name: "node-" + Math.random().toString(36).slice(2, 10),
  release: () => {},
});

/**
 * Connects to a Porchlight service, and stays connected until `close()`.
 * @param {string | URL} url `porchlight://host:7400` or, with TLS, `porchlights://host:7443`: the
 *   native protocol; `wss://host/v1/socket`: WebSocket, where the runtime has it (Node from 22 on)
 * @param {import("./porchlight.js").Options} [options]
 */
export function connect(url, options = {}) {
  const href = corrected(url);
  const { protocol } = new URL(href);
  if (protocol.startsWith("ws") && !globalThis.WebSocket) {
    throw new TypeError("This runtime has no WebSocket: use porchlight:// or porchlights://.");
  }
  if (options.tls && protocol !== "porchlights:") {
    throw new TypeError("The option `tls` is for porchlights:// only.");
  }
  /** @type {import("./connection.js").Environment["open"]} */
  const open = (url, events) => protocol.startsWith("porchlight")
    ? openNative(url, events, options.tls)
    : openWebSocket(url, events);
  return new Porchlight(href, options, { ...common, parts, open, device, client: "other" });
}
