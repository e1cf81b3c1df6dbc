export function begin(hooks: Hooks): Part & {
    enable: () => Promise<void>;
    disable: () => Promise<void>;
};
export type Hooks = import("./connection.js").Hooks;
export type Part = import("./connection.js").Part;
/**
 * Subscribes this browser to push messages.
 * @param {Hooks} hooks
 */
declare function enable(hooks: Hooks): Promise<void>;
/**
 * Ends what `enable` has begun, if anything.
 * @param {Hooks} hooks
 */
declare function disable({ porchlight }: Hooks): Promise<void>;
export {};
