/** @type {import("./connection.js").Environment["open"]} */
export const open: import("./connection.js").Environment["open"];
