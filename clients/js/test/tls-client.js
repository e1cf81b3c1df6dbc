// tls-client.js URL [JSON]   prints the condition that `connect` to a URL leads to, or the error
//                            with the code of its cause; the JSON is the option `tls`
import { readFileSync } from "node:fs";
import { connect } from "../src/node.js";

const [url, options] = process.argv.slice(2);
const tls = options && JSON.parse(options);
if (tls?.ca) tls.ca = readFileSync(tls.ca);
const porchlight = connect(url, { account: "alice", device: "test", tls });
porchlight.addEventListener("change", () => {
  if (porchlight.condition === "connecting") return;
  const { message, reason, cause } = porchlight.error ?? {};
  console.log([reason ?? porchlight.condition, cause?.code, message].filter(Boolean).join(" "));
  process.exit();
});
