export function open(url: string, { opened, received, closed }: WireEvents, { ca, servername }?: TLSOptions): Wire;
export type WireEvents = import("./connection.js").WireEvents;
export type Wire = import("./connection.js").Wire;
export type TLSOptions = import("./porchlight.js").TLSOptions;
