// A cable that can be pulled out, for one page: while it is, no WebSocket can be opened.

const RealWebSocket = globalThis.WebSocket;
let isCut = false;

globalThis.WebSocket = function (url, protocols) {
  if (!isCut) return new RealWebSocket(url, protocols);
  const dead = { send() {}, close() {} };
  setTimeout(() => dead.onclose?.({ code: 1006, reason: "" }));
  return dead;
};

/** Pulls the cable out, or puts it in again. The browser's own events tell the SDK. */
export const cut = (is) => {
  isCut = is;
  dispatchEvent(new Event(is ? "offline" : "online"));
};
