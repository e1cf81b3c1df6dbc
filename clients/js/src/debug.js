// @ts-check

/** @typedef {import("./connection.js").Hooks} Hooks */
/** @typedef {import("./connection.js").Part} Part */

/** @param {string} text */
const print = (text) => console.debug("Porchlight: " + text);

/**
 * What is said of a message: its method, and of an error or a close its reason. Never what it is
 * about: tokens, names, texts.
 * @param {string} message
 * @param {Map<unknown, { method: string, time: number }>} requests that are not answered
 * @param {number} now
 */
const summary = (message, requests, now) => {
  if (!message) return;
  try {
    const { id, method, params, error } = JSON.parse(message);
    if (method) {
      const count = params?.events?.length ?? params?.messages?.length ?? params?.publishers?.length;
      return [method, count, params?.reason].filter((part) => part !== undefined).join(" ");
    }
    const request = requests.get(id);
    requests.delete(id);
    const outcome = error ? `${error.code} ${error.data?.reason ?? ""}` : "ok";
    return request ? `${request.method}: ${outcome} (${now - request.time} ms)` : outcome;
  } catch {
    return "something that is not of the protocol";
  }
};

/**
 * Says what happens: each request, response and notification, and each change of `condition`.
 * @param {Hooks} hooks
 * @param {import("./porchlight.js").Options} options
 * @returns {Part}
 */
export const begin = ({ porchlight, environment }, { debug }) => {
  const log = typeof debug === "function" ? debug : print;
  const { open } = environment;
  environment.open = (url, events) => {
    const requests = new Map();
    const wire = open(url, {
      opened() {
        log("connection opened");
        events.opened();
      },
      received(message) {
        const text = summary(message, requests, environment.now());
        if (text) log("< " + text);
        events.received(message);
      },
      closed(code, reason, cause) {
        log(["connection closed", code, reason].filter(Boolean).join(" "));
        events.closed(code, reason, cause);
      },
    });
    return {
      send(message) {
        if (message) {
          const { id, method } = JSON.parse(message);
          requests.set(id, { method, time: environment.now() });
          log("> " + summary(message, requests, 0));
        }
        wire.send(message);
      },
      close: () => wire.close(),
    };
  };
  let known = "";
  const look = () => {
    const { condition, error, nextAttempt } = porchlight;
    const wait = nextAttempt && `next attempt in ${Math.round(nextAttempt - environment.now())} ms`;
    const text = [condition, error?.reason, wait].filter(Boolean).join(", ");
    if (text !== known) log((known = text));
  };
  porchlight.addEventListener("change", look);
  look();
  return {};
};
