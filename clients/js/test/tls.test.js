// TLS, with a certificate that only NODE_EXTRA_CA_CERTS makes valid: hence processes of their own.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Service, binary } from "./service.js";

/** Prints the error or the condition that `connect` to a URL leads to. */
const script = `
  import { connect } from "${new URL("../src/node.js", import.meta.url)}";
  const porchlight = connect(process.argv[1], { account: "alice", device: "test" });
  porchlight.addEventListener("change", () => {
    if (porchlight.condition === "connecting") return;
    console.log(porchlight.error?.reason ?? porchlight.condition);
    process.exit();
  });`;

const outcome = async (url, env = {}) => {
  const process_ = spawn(process.execPath, ["--input-type=module", "-e", script, url], {
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

  test("a certificate of an unknown issuer is not accepted", async () => {
    assert.equal(await outcome(`porchlights://localhost:${service.tlsPort}`), "lost");
  });

  test("there is no TLS on the port without it", async () => {
    assert.equal(await outcome(`porchlights://localhost:${service.port}`, trust), "lost");
  });
});
