export function corrected(url: string | URL): string;
export function backoff({ random }: Environment, failures: number, secondsMax: number): number;
export function remaining({ now }: Environment, until: number, seconds?: number | undefined): number | undefined;
export namespace common {
    function now(): number;
    function random(): number;
    function warn(text: string): void;
    function isHidden(): boolean;
    /**
     * @param {number} milliseconds
     * @param {() => void} action
     */
    function after(milliseconds: number, action: () => void): () => void;
    /**
     * @param {number} milliseconds
     * @param {() => void} action
     */
    function after(milliseconds: number, action: () => void): () => void;
    /**
     * @param {(wasHidden: boolean) => void} back
     * @param {() => void} offline
     */
    function listen(back: (wasHidden: boolean) => void, offline: () => void): () => void;
    /**
     * @param {(wasHidden: boolean) => void} back
     * @param {() => void} offline
     */
    function listen(back: (wasHidden: boolean) => void, offline: () => void): () => void;
}
export type Environment = import("./connection.js").Environment;
