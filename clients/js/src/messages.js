// @ts-check
import { Incoming } from "./incoming.js";
import { Outgoing } from "./outgoing.js";

/** @typedef {import("./connection.js").Hooks} Hooks */
/** @typedef {import("./connection.js").Part} Part */

/**
 * Calls that are not about who is online, and messages.
 * @param {Hooks} hooks
 * @param {import("./porchlight.js").Options} options
 * @returns {Part & {
 *   message: Outgoing["message"], device: Outgoing["device"], visibility: Outgoing["visibility"],
 *   received: (options?: import("./porchlight.js").LoopOptions) => ReturnType<Incoming["messages"]> }}
 */
export const begin = (hooks, options) => {
  const { environment, subscriber, request, wake, PorchlightError } = hooks;
  const outgoing = new Outgoing(environment, subscriber, request, wake, PorchlightError);
  const incoming = new Incoming(environment, subscriber, request);
  return {
    message: (...call) => outgoing.message(...call),
    device: (...call) => outgoing.device(...call),
    visibility: (...call) => outgoing.visibility(...call),
    received({ own = false } = {}) {
      const { messages } = options;
      if (!messages) throw new TypeError("The option `messages` is not set.");
      if (own && !(messages instanceof Object && messages.sent)) {
        throw new TypeError("The option `messages` is not `{ sent: true }`.");
      }
      return incoming.messages(own);
    },
    send: () => outgoing.send(),
    lose() {
      outgoing.lose();
      incoming.lose();
    },
    leave: () => incoming.flush(),
    stop(error) {
      outgoing.end(error);
      incoming.end();
    },
    notified(method, params) {
      if (method === "messages") incoming.receive(params.messages);
      if (method === "sent") incoming.copy(params.sent);
    },
  };
};
