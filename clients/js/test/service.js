// A service of the test's own: `PORCHLIGHT_BIN`, on a free port, with a new directory.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const binary = process.env.PORCHLIGHT_BIN;

// A run that passes is silent: here, services are killed and tokens rejected.
console.warn = () => {};

export class Service {
  #data = mkdtempSync(join(tmpdir(), "porchlight-"));
  #flags;
  #process;
  port = 0;
  /** Environment variables, for settings that have no flag. */
  settings = {};

  constructor(...flags) {
    this.#flags = flags;
  }

  /** Starts it, on the same port as before. */
  async start() {
    const service = spawn(binary, [
      "serve", "--listen", `127.0.0.1:${this.port}`, "--data", this.#data,
      "--log-level", "warning", ...this.#flags,
    ], { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...this.settings } });
    this.#process = service;
    const ready = await new Promise((resolve, reject) => {
      let output = "";
      service.stdout.on("data", (data) => {
        output += data;
        const found = /^ready on .*\n/m.exec(output);
        if (found) resolve(found[0]);
      });
      service.once("exit", (code) => reject(new Error(`the service has ended: ${code}`)));
    });
    // Each address stands after its word.
    const port = (word) => Number(new RegExp(`${word} on [^ ,]+:(\\d+)`).exec(ready)?.[1]);
    this.port = port("ready");
    this.tlsPort = port("tls");
    this.httpPort = port("http");
    return this;
  }

  get url() {
    return `porchlight://127.0.0.1:${this.port}`;
  }

  get webSocket() {
    return `ws://127.0.0.1:${this.port}/v1/socket`;
  }

  /** Ends it without warning. */
  async kill(signal = "SIGKILL") {
    const exited = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill(signal);
    await exited;
  }

  async end() {
    if (this.#process?.exitCode === null && this.#process.signalCode === null) await this.kill();
    rmSync(this.#data, { recursive: true, force: true });
  }
}

/** Resolves when `condition` holds after a `change` of `target`. */
export const until = (target, condition) => new Promise((resolve) => {
  const check = () => {
    if (!condition()) return;
    target.removeEventListener("change", check);
    resolve();
  };
  target.addEventListener("change", check);
  check();
});
