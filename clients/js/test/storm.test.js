// Many clients in one process, while the service is killed again and again: STORM_CLIENTS,
// STORM_KILLS, STORM_SEED. All must be current again, and none may ever see an older state after a
// newer one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { common } from "../src/environment.js";
import { open } from "../src/native.js";
import { Porchlight } from "../src/porchlight.js";
import { generator } from "./random.js";
import { Service, binary, until } from "./service.js";

const count = Number(process.env.STORM_CLIENTS ?? 60);
const kills = Number(process.env.STORM_KILLS ?? 3);
const seed = Number(process.env.STORM_SEED ?? Math.floor(Math.random() * 2 ** 31));
const watched = Math.min(40, count - 1);
const timeout = 60_000 + kills * 20_000;

const random = generator(seed);
const below = (limit) => Math.floor(random() * limit);

const environment = {
  ...common, open, client: "other", warn: undefined,
  // Series of losses would wait for a minute.
  random: () => random() / 20,
  device: async () => ({ name: "storm", release: () => {} }),
};

class Client {
  value = 10_000;
  #seen = new Map();

  constructor(index, url) {
    this.account = "c" + index;
    this.porchlight = new Porchlight(url, { account: this.account }, environment);
    const names = Array.from({ length: watched }, (_, step) => "c" + ((index + step + 1) % count));
    this.watch = this.porchlight.watch(names);
    this.watch.addEventListener("change", ({ detail }) => {
      for (const [account, { status }] of detail) {
        const value = status?.value ?? 0;
        const newest = this.#seen.get(account) ?? 0;
        assert(value >= newest, `${this.account} saw ${account} go from ${newest} to ${value}`);
        this.#seen.set(account, value);
        Client.changes += 1;
        if (Client.changes === Client.wanted) Client.wake();
      }
    });
  }

  publish() {
    this.value += 1;
    return this.porchlight.setStatus(this.value, { durable: true });
  }

  /** Everything is current and shows what was published last. */
  isRight(clients) {
    return [...this.watch.values()].every(({ account, live, is, status }) => {
      const { value } = clients.get(account);
      return live && is === "online" && (status?.value ?? 10_000) === value;
    });
  }

  static changes = 0;
  static wanted = Infinity;
  static wake = () => {};

  /** Resolves after so many further changes, of all clients together. */
  static after(changes) {
    Client.wanted = Client.changes + changes;
    return new Promise((resolve) => (Client.wake = resolve));
  }
}

const skip = binary ? false : "PORCHLIGHT_BIN is not set";
const name = `${count} clients survive ${kills} kills, seed ${seed}`;
test(name, { timeout, skip }, async (context) => {
  const service = await new Service().start();
  const clients = new Map();
  const published = [];
  try {
    for (let index = 0; index < count; index++) {
      const client = new Client(index, service.url);
      clients.set(client.account, client);
    }
    const areRight = () => Promise.all([...clients.values()].map((client) =>
      until(client.watch, () => client.isRight(clients))));
    await areRight();
    for (let kill = 0; kill < kills; kill++) {
      // Somewhere in the middle of deliveries.
      const some = Client.after(1 + below(count * watched));
      for (let step = 0; step < count; step++) {
        published.push(clients.get("c" + below(count)).publish());
      }
      for (const client of clients.values()) published.push(client.publish());
      await some;
      await service.kill();
      await service.start();
      await areRight();
    }
    await Promise.all(published);
    context.diagnostic(`${Client.changes} changes, ${published.length} statuses`);
  } finally {
    for (const { porchlight } of clients.values()) porchlight.close({ logout: false });
    await service.end();
  }
});
