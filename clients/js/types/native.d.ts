/**
 * The native protocol: frames with a length of four bytes, over TCP (`porchlight:`) or TLS
 * (`porchlights:`).
 * @type {import("./connection.js").Environment["open"]}
 */
export const open: import("./connection.js").Environment["open"];
