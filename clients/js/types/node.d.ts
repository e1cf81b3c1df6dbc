/**
 * Connects to a Porchlight service, and stays connected until `close()`.
 * @param {string | URL} url `porchlight://host:7400` or, with TLS, `porchlights://host:7443`: the
 *   native protocol; `wss://host/v1/socket`: WebSocket, where the runtime has it (Node from 22 on)
 * @param {import("./porchlight.js").Options} [options]
 */
export function connect(url: string | URL, options?: import("./porchlight.js").Options | undefined): Porchlight;
export { Watch } from "./watch.js";
export { Porchlight };
import { Porchlight } from "./porchlight.js";
export { PorchlightError, SignedOut } from "./error.js";
