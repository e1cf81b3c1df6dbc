// What native.js uses of Node, so that the check needs no package with types.
declare module "node:net" {
  export interface Socket {
    on(event: "data", listener: (chunk: Buffer) => void): this;
    on(event: "error" | "close", listener: () => void): this;
    setNoDelay(on: boolean): this;
    write(data: Buffer): boolean;
    destroy(): void;
  }
  const net: {
    connect(port: number, host: string, connected: () => void): Socket;
    isIP(host: string): number;
  };
  export default net;
}
declare module "node:tls" {
  import { Socket } from "node:net";
  const tls: { connect(options: object, connected: () => void): Socket };
  export default tls;
}
interface Buffer {
  readonly length: number;
  readUInt32BE(offset: number): number;
  writeUInt32BE(value: number, offset: number): number;
  write(text: string, offset: number): number;
  toString(encoding: "utf8", start: number, end: number): string;
  subarray(start: number, end?: number): Buffer;
}
declare const Buffer: {
  concat(chunks: Buffer[]): Buffer;
  byteLength(text: string): number;
  allocUnsafe(size: number): Buffer;
};
