export { PorchlightError } from "./error.js";
export { Watch } from "./watch.js";
export { Porchlight };
export function connect(url: string | URL, options?: import("./porchlight.js").Options | undefined): Porchlight;
import { Porchlight } from "./porchlight.js";
