// @ts-check

/** @type {import("./connection.js").Environment["open"]} */
export const open = (url, { opened, received, closed }) => {
  const socket = new WebSocket(url, "porchlight.v1");
  socket.onopen = opened;
  socket.onmessage = ({ data }) => received(data);
  // Node 20 reports a failure to connect by this alone. Browsers say nothing of the cause.
  socket.onerror = (/** @type {Event & { message?: string }} */ { message }) =>
    closed(0, "", message ? new Error(message) : undefined);
  socket.onclose = ({ code, reason }) => closed(code, reason);
  return {
    send: (message) => socket.send(message),
    close: () => socket.close(),
  };
};
