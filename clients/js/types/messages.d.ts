export function begin({ environment, subscriber, request, wake, PorchlightError }: Hooks): Part & {
    message: Outgoing["message"];
    device: Outgoing["device"];
    visibility: Outgoing["visibility"];
    received: Incoming["messages"];
};
export type Hooks = import("./connection.js").Hooks;
export type Part = import("./connection.js").Part;
import { Outgoing } from "./outgoing.js";
import { Incoming } from "./incoming.js";
