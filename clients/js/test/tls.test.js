// TLS, with a certificate that only NODE_EXTRA_CA_CERTS makes valid: hence processes of their own.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Service, binary } from "./service.js";

/** Prints the condition that `connect` to a URL leads to, or the error with its cause. */
const script = `
  import { readFileSync } from "node:fs";
  import { connect } from "${new URL("../src/node.js", import.meta.url)}";
  const tls = JSON.parse(process.argv[2] ?? "null") ?? undefined;
  if (tls?.ca) tls.ca = readFileSync(tls.ca);
  const porchlight = connect(process.argv[1], { account: "alice", device: "test", tls });
  porchlight.addEventListener("change", () => {
    if (porchlight.condition === "connecting") return;
    const { message, reason, cause } = porchlight.error ?? {};
    console.log([reason ?? porchlight.condition, cause?.code, message].filter(Boolean).join(" "));
    process.exit();
  });`;

const outcome = async (url, env = {}, ...tls) => {
  const options = tls.map((value) => JSON.stringify(value));
  const process_ = spawn(process.execPath, ["--input-type=module", "-e", script, url, ...options], {
    env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  process_.stdout.on("data", (data) => (output += data));
  await new Promise((resolve) => process_.once("close", resolve));
  return output.trim();
};

const missing = () => {
  if (!binary) return "PORCHLIGHT_BIN is not set";
  if (spawnSync("openssl", ["version"]).status !== 0) return "there is no openssl";
  const { stdout } = spawnSync(binary, ["serve", "--help"]);
  return stdout.includes("--listen-tls") ? false : "the service has no TLS";
};

describe("by TLS", { timeout: 30_000, skip: missing() }, () => {
  const folder = mkdtempSync(join(tmpdir(), "porchlight-"));
  const [certificate, key] = ["certificate.pem", "key.pem"].map((name) => join(folder, name));
  const trust = { NODE_EXTRA_CA_CERTS: certificate };
  let service;
  before(async () => {
    const { status, stderr } = spawnSync("openssl", [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
      "-keyout", key, "-out", certificate, "-days", "30", "-subj", "/CN=localhost",
      "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
    ]);
    assert.equal(status, 0, stderr.toString());
    service = await new Service("--listen-tls", "127.0.0.1:0", "--tls-certificate", certificate,
      "--tls-key", key).start();
  });
  after(async () => {
    await service?.end();
    rmSync(folder, { recursive: true });
  });

  for (const host of ["localhost", "127.0.0.1"]) {
    test(`the native protocol, to ${host}`, async () => {
      assert.equal(await outcome(`porchlights://${host}:${service.tlsPort}`, trust), "connected");
    });
  }

  test("WebSocket", { skip: !globalThis.WebSocket }, async () => {
    const url = `wss://localhost:${service.tlsPort}/v1/socket`;
    assert.equal(await outcome(url, trust), "connected");
  });

  test("a certificate of an unknown issuer is not accepted, and the error says so", async () => {
    assert.equal(await outcome(`porchlights://localhost:${service.tlsPort}`),
      "lost DEPTH_ZERO_SELF_SIGNED_CERT No connection: self-signed certificate");
  });

  test("a certificate that the option `tls` trusts is accepted", async () => {
    const url = `porchlights://localhost:${service.tlsPort}`;
    assert.equal(await outcome(url, {}, { ca: certificate }), "connected");
  });

  test("a certificate of another name is not accepted, and the error says so", async () => {
    const url = `porchlights://localhost:${service.tlsPort}`;
    assert.match(await outcome(url, {}, { ca: certificate, servername: "other.example" }),
      /^lost ERR_TLS_CERT_ALTNAME_INVALID No connection: .*other\.example/);
  });

  test("there is no TLS on the port without it", async () => {
    const found = await outcome(`porchlights://localhost:${service.port}`, trust);
    assert.match(found, /^lost .*No connection: ./);
  });
});
