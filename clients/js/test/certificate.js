// A CA of the test's own, and a certificate for localhost that it has signed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const hasOpenSSL = spawnSync("openssl", ["version"]).status === 0;

const openssl = (...args) => {
  const { status, stderr } = spawnSync("openssl", args);
  assert.equal(status, 0, `openssl ${args.join(" ")}: ${stderr}`);
};

export class Certificate {
  #folder = mkdtempSync(join(tmpdir(), "porchlight-"));
  /** The CA's certificate, and that for localhost with its key. */
  ca = this.#path("ca.pem");
  chain = this.#path("certificate.pem");
  key = this.#path("key.pem");

  constructor() {
    const request = this.#path("request.pem");
    const names = this.#path("names.txt");
    const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    const life = ["-days", "30"];
    writeFileSync(names, "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
    const caKey = this.#path("ca-key.pem");
    openssl("req", "-x509", ...newKey, "-keyout", caKey, "-out", this.ca, ...life,
      "-subj", "/CN=Test CA");
    openssl("req", ...newKey, "-keyout", this.key, "-out", request, "-subj", "/CN=localhost");
    openssl("x509", "-req", "-in", request, "-CA", this.ca, "-CAkey", caKey, "-CAcreateserial",
      ...life, "-extfile", names, "-out", this.chain);
  }

  #path(name) {
    return join(this.#folder, name);
  }

  end() {
    rmSync(this.#folder, { recursive: true });
  }
}
