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
// What react.js uses of React.
declare module "react" {
  export type ReactNode = unknown;
  export interface ReactElement {}
  export interface Context<Value> {
    Provider: (props: { value: Value, children?: ReactNode }) => ReactElement;
  }
  export function createContext<Value>(value: Value): Context<Value>;
  export function createElement<Props>(
    type: (props: Props) => ReactElement, props: Props, ...children: ReactNode[]): ReactElement;
  export function useCallback<Action>(action: Action, dependencies: unknown[]): Action;
  export function useContext<Value>(context: Context<Value>): Value;
  export function useEffect(
    begin: () => (() => void) | void, dependencies: unknown[]): void;
  export function useMemo<Value>(make: () => Value, dependencies: unknown[]): Value;
  export function useRef<Value>(value: Value): { current: Value };
  export function useState<Value>(value: Value): [Value, (value: Value) => void];
  export function useSyncExternalStore<Value>(
    subscribe: (changed: () => void) => () => void, look: () => Value, server: () => Value): Value;
}
