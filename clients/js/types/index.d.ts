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
export function connect(url: string | URL, options?: import("./porchlight.js").Options | undefined): Porchlight;
export { Watch } from "./watch.js";
export { Porchlight };
export type Options = import("./porchlight.js").Options;
export type TLSOptions = import("./porchlight.js").TLSOptions;
export type StatusOptions = import("./porchlight.js").StatusOptions;
export type MessageOptions = import("./porchlight.js").MessageOptions;
export type Availability = import("./porchlight.js").Availability;
export type Visibility = import("./porchlight.js").Visibility;
export type Contact = import("./contacts.js").Contact;
export type Contacts = import("./contacts.js").Contacts;
export type ContactChanges = import("./contacts.js").ContactChanges;
export type Message = import("./incoming.js").Message;
export type Sent = import("./outgoing.js").Sent;
export type DeviceLabels = import("./outgoing.js").DeviceLabels;
export type Condition = import("./porchlight.js").Condition;
export type Presence = import("./topics.js").Presence;
export type Status = import("./topics.js").Status;
export type Device = import("./topics.js").Device;
export type Changes = import("./watch.js").Changes;
import { Porchlight } from "./porchlight.js";
export { PorchlightError, SignedOut } from "./error.js";
