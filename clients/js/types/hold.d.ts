export function begin(hooks: Hooks): import("./connection.js").Part & {
    hold: (params: Write["params"], written: Promise<void>) => void;
};
export type Hooks = import("./connection.js").Hooks;
export type Part = import("./connection.js").Part;
export type Write = import("./statuses.js").Write;
