// @ts-check
import { device } from "./device.js";
import { common, corrected } from "./environment.js";
import { Porchlight } from "./porchlight.js";
import { open } from "./websocket.js";

export { PorchlightError, SignedOut } from "./error.js";
export { Watch } from "./watch.js";
export { Porchlight };

/** @type {import("./connection.js").Parts} */
const parts = {
  away: () => import("./away.js"),
  contacts: () => import("./contacts.js"),
  debug: () => import("./debug.js"),
  hold: () => import("./hold.js"),
  messages: () => import("./messages.js"),
  push: () => import("./push.js"),
};

/**
 * @typedef {import("./porchlight.js").Options} Options
 * @typedef {import("./porchlight.js").TLSOptions} TLSOptions
 * @typedef {import("./porchlight.js").StatusOptions} StatusOptions
 * @typedef {import("./porchlight.js").MessageOptions} MessageOptions
 * @typedef {import("./porchlight.js").Availability} Availability
 * @typedef {import("./porchlight.js").Visibility} Visibility
 * @typedef {import("./contacts.js").Contact} Contact
 * @typedef {import("./contacts.js").Contacts} Contacts
 * @typedef {import("./contacts.js").ContactChanges} ContactChanges
 * @typedef {import("./incoming.js").Message} Message
 * @typedef {import("./outgoing.js").Sent} Sent
 * @typedef {import("./outgoing.js").DeviceLabels} DeviceLabels
 * @typedef {import("./porchlight.js").Condition} Condition
 * @typedef {import("./topics.js").Presence} Presence
 * @typedef {import("./topics.js").Status} Status
 * @typedef {import("./topics.js").Device} Device
 * @typedef {import("./watch.js").Changes} Changes
 */

/**
 * Connects to a Porchlight service, and stays connected until `close()`. Returns immediately: see
 * `condition` and its `change` event.
 * @param {string | URL} url `wss://presence.example.com`, whose path is `/v1/socket` unless it has
 *   another one; in Node, Deno and Bun also
 *   `porchlight://host:7400` and, with TLS, `porchlights://host:7443`
 * @param {Options} [options]
 */
export function connect(url, options = {}) {
  return new Porchlight(corrected(url), options, { ...common, parts, open, device, client: "web" });
}
