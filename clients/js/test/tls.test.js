// TLS, with a CA that only an environment variable or the option `tls` makes valid: hence processes
// of their own.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Certificate, hasOpenSSL } from "./certificate.js";
import { Service, binary } from "./service.js";

const client = fileURLToPath(new URL("tls-client.js", import.meta.url));

const outcome = async (url, { ca, tls } = {}) => {
  const env = ca ? { ...process.env, NODE_EXTRA_CA_CERTS: ca, DENO_CERT: ca } : process.env;
  const options = tls ? [JSON.stringify(tls)] : [];
  const process_ = spawn(process.execPath, [client, url, ...options], {
    env, stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  process_.stdout.on("data", (data) => (output += data));
  await new Promise((resolve) => process_.once("close", resolve));
  return output.trim();
};

const missing = () => {
  if (!binary) return "PORCHLIGHT_BIN is not set";
  if (!hasOpenSSL) return "there is no openssl";
  const { stdout } = spawnSync(binary, ["serve", "--help"]);
  return stdout.includes("--listen-tls") ? false : "the service has no TLS";
};

describe("by TLS", { timeout: 30_000, skip: missing() }, () => {
  let service, certificate, ca, url;
  before(async () => {
    certificate = new Certificate();
    ca = certificate.ca;
    service = await new Service("--listen-tls", "127.0.0.1:0", "--tls-certificate",
      certificate.chain, "--tls-key", certificate.key).start();
    url = `porchlights://localhost:${service.tlsPort}`;
  });
  after(async () => {
    await service?.end();
    certificate?.end();
  });

  for (const host of ["localhost", "127.0.0.1"]) {
    test(`the native protocol, to ${host}`, async () => {
      const url = `porchlights://${host}:${service.tlsPort}`;
      assert.equal(await outcome(url, { ca }), "connected");
    });
  }

  test("WebSocket", { skip: !globalThis.WebSocket }, async () => {
    const url = `wss://localhost:${service.tlsPort}/v1/socket`;
    assert.equal(await outcome(url, { ca }), "connected");
  });

  test("a certificate of an unknown issuer is not accepted, and the error says so", async () => {
    assert.match(await outcome(url),
      /^lost (UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT_LOCALLY) No connection: ./);
  });

  test("a certificate that the option `tls` trusts is accepted", async () => {
    assert.equal(await outcome(url, { tls: { ca } }), "connected");
  });

  test("a certificate of another name is not accepted, and the error says so", async () => {
    assert.match(await outcome(url, { tls: { ca, servername: "other.example" } }),
      /^lost ERR_TLS_CERT_ALTNAME_INVALID No connection: .*other\.example/);
  });

  test("there is no TLS on the port without it", async () => {
    assert.match(await outcome(`porchlights://localhost:${service.port}`), /^lost /);
  });
});
