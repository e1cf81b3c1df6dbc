export function begin(hooks: Hooks, options: import("./porchlight.js").Options): import("./connection.js").Part & {
    message: Outgoing["message"];
    device: Outgoing["device"];
    visibility: Outgoing["visibility"];
    received: (options?: import("./porchlight.js").LoopOptions) => ReturnType<Incoming["messages"]>;
};
export type Hooks = import("./connection.js").Hooks;
export type Part = import("./connection.js").Part;
import { Outgoing } from "./outgoing.js";
import { Incoming } from "./incoming.js";
