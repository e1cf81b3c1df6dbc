export namespace common {
    function now(): number;
    function random(): number;
    function warn(text: string): void;
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
     * @param {() => void} online
     * @param {() => void} offline
     */
    function listen(online: () => void, offline: () => void): () => void;
    /**
     * @param {() => void} online
     * @param {() => void} offline
     */
    function listen(online: () => void, offline: () => void): () => void;
}
