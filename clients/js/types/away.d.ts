export function begin({ environment, adjust }: Hooks, { away }: import("./porchlight.js").Options): Part;
export type Hooks = import("./connection.js").Hooks;
export type Part = import("./connection.js").Part;
