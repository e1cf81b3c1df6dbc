// Two devices of an account, whose lists together are above the quota, while the service is killed,
// lines are cut or go silent, tabs are frozen, and everything changes: TRUTH_SEED, TRUTH_ROUNDS,
// TRUTH_STEPS. Nothing older may follow something newer. When all is at rest, what the devices show
// must be what the service answers to a query; and what happens then must reach both.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../src/native.js";
import { Porchlight } from "../src/porchlight.js";
import { Platform, Relay } from "./network.js";
import { generator } from "./random.js";
import { Service, binary, until } from "./service.js";

const seed = Number(process.env.TRUTH_SEED ?? Math.floor(Math.random() * 2 ** 31));
const rounds = Number(process.env.TRUTH_ROUNDS ?? 2);
const steps = Number(process.env.TRUTH_STEPS ?? 300);
const ACCOUNTS = 60;
const QUOTA = 30;
/** The clocks of clients are so much faster: half a lease, 60 s by the service, is 1.5 s. */
const SPEED = 20;
const LEASE = 60;
const timeout = 60_000 + rounds * (60_000 + steps * 100);

const random = generator(seed);
const below = (limit) => Math.floor(random() * limit);
const some = (list) => list[below(list.length)];
const names = Array.from({ length: ACCOUNTS }, (_, index) => "a" + index);

/** An app server, on one connection. */
class Server {
  #pending = new Map();
  #id = 0;

  async start(url) {
    await new Promise((resolve, reject) => {
      this.wire = open(url, {
        opened: resolve,
        closed: reject,
        received: (message) => {
          const { id, result, error } = message ? JSON.parse(message) : {};
          this.#pending.get(id)?.(result ?? error);
          this.#pending.delete(id);
        },
      });
    });
    await this.call("login", { client: "server" });
    return this;
  }

  call(method, params) {
    const id = ++this.#id;
    this.wire.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return new Promise((resolve) => this.#pending.set(id, resolve));
  }

  /** By account, what a watch should show. */
  async truth() {
    const { states } = await this.call("query", { type: 1, accounts: names });
    return new Map(states.map(({ publisher, online, status, lastSeen }) => [publisher, {
      is: online.length ? "online" : "offline",
      devices: online,
      status: status && { value: status.value, text: status.ext, expires: status.expires },
      lastSeen,
    }]));
  }
}

/** A device of the account, with lists that come and go. */
class Device {
  lists = [];
  /** By account, the newest value that was shown. Published values only grow. */
  #newest = new Map();

  async start(name, port) {
    this.name = name;
    this.relay = await new Relay().start(port);
    this.platform = new Platform(SPEED, random, open);
    this.porchlight = new Porchlight(`porchlight://127.0.0.1:${this.relay.port}`,
      { account: "me", device: name, leaseSeconds: LEASE }, this.platform.environment());
    return this;
  }

  watch(accounts) {
    const list = this.porchlight.watch(accounts);
    list.addEventListener("change", ({ detail }) => {
      for (const [account, presence] of detail) {
        const value = presence?.status?.value ?? 0;
        const newest = this.#newest.get(account) ?? 0;
        assert(!value || value >= newest,
          `seed ${seed}: ${this.name} saw ${account} go from ${newest} to ${value}`);
        if (value) this.#newest.set(account, value);
      }
    });
    this.lists.push(list);
  }

  get wanted() {
    return new Map(this.lists.flatMap((list) => [...list]));
  }

  /** What is not as it should be. */
  difference(truth) {
    for (const [account, { live, is, devices, status, lastSeen }] of this.wanted) {
      const shown = JSON.stringify({ is, devices, status, lastSeen });
      const wanted = JSON.stringify(truth.get(account));
      if (!live) return `${this.name} has ${account} as not current`;
      if (shown !== wanted) return `${this.name} has ${account} as ${shown}, not ${wanted}`;
    }
  }
}

class World {
  crowd = new Map();
  logins = 0;
  rejections = 0;
  value = 10_000;

  async start() {
    this.service = new Service("--disconnect-grace", "0", "--restart-grace", "0");
    this.service.settings = { PORCHLIGHT_SUBSCRIPTIONS_PER_ACCOUNT_MAX: QUOTA };
    await this.service.start();
    this.server = await new Server().start(this.service.url);
    const { port } = this.service;
    this.devices = [await new Device().start("one", port), await new Device().start("two", port)];
    for (const { porchlight } of this.devices) {
      porchlight.addEventListener("change", () => {
        const { condition, error } = porchlight;
        if (condition !== "connected") return;
        if (error?.reason === "subscription_quota") this.rejections += 1;
        if (!error) this.logins += 1;
      });
    }
    return this;
  }

  /** An account logs in, or ends its session in one of two ways. */
  toggle(account) {
    const client = this.crowd.get(account);
    if (client) {
      this.crowd.delete(account);
      return client.close({ logout: random() < 0.5 });
    }
    const platform = new Platform(SPEED, random, open);
    this.crowd.set(account, new Porchlight(this.service.url, { account, device: "d" + below(3) },
      platform.environment()));
  }

  publish(account) {
    const params = { account, type: 1, value: ++this.value, ext: "ü" + this.value };
    return this.server.call("publish", { ...params, onlineOnly: false });
  }

  async kill() {
    await this.service.kill();
    await this.service.start();
    this.server = await new Server().start(this.service.url);
  }

  deeds = [
    [20, () => this.toggle(some(names))],
    [60, () => this.publish(some(names))],
    [2, () => this.server.call("clear", { account: some(names), type: 1 })],
    [25, (device) => device.lists.length < 4 && device.watch(
      Array.from({ length: 1 + below(15) }, () => some(names)))],
    [18, (device) => device.lists.splice(below(device.lists.length), 1)[0]?.close()],
    [10, (device) => device.lists[0]?.add(some(names))],
    [10, (device) => device.lists[0]?.delete(some(names))],
    [1.5, (device) => device.relay.cut()],
    [0.5, (device) => device.relay.mute()],
    [3, (device) => device.relay.heal()],
    [1, (device) => device.platform.freeze()],
    [5, (device) => device.platform.thaw()],
    [0.5, (device) => device.platform.network[some(["online", "offline"])]()],
    [0.5, () => this.kill()],
  ];

  async step() {
    let choice = random() * this.deeds.reduce((sum, [weight]) => sum + weight, 0);
    await this.deeds.find(([weight]) => (choice -= weight) < 0)[1](some(this.devices));
    // Chaos lasts: a delay of a client before it reconnects passes meanwhile, or it does not.
    await new Promise((resolve) => setTimeout(resolve, below(20)));
  }

  /** The chaos ends, and what both devices want fits the quota. */
  async rest() {
    for (const device of this.devices) {
      device.relay.heal();
      device.platform.thaw();
    }
    const all = () => new Set(this.devices.flatMap(({ wanted }) => [...wanted.keys()]));
    while (all().size > QUOTA - 5) {
      const [larger] = this.devices.toSorted((a, b) => b.wanted.size - a.wanted.size);
      larger.lists.pop().close();
    }
    // What was wanted before would take its place for the rest of its lease.
    const listed = await this.server.call("subscriptions", { account: "me", limit: 1_000 });
    const idle = listed.subscriptions.map(({ publisher }) => publisher)
      .filter((publisher) => !all().has(publisher));
    if (idle.length) {
      await this.server.call("unsubscribe", { account: "me", type: 1, publishers: idle });
    }
    for (const client of this.crowd.values()) {
      await until(client, () => client.condition === "connected");
    }
    await this.agrees();
  }

  /** Waits until both devices show the truth. */
  async agrees() {
    const end = Date.now() + 40_000;
    for (;;) {
      const truth = await this.server.truth();
      const differences = this.devices.map((device) => device.difference(truth)).filter(Boolean);
      if (!differences.length) return;
      assert(Date.now() < end, `seed ${seed}: ${differences}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async end() {
    for (const client of this.crowd.values()) client.close({ logout: false });
    for (const { porchlight, relay } of this.devices ?? []) {
      porchlight.close({ logout: false });
      relay.end();
    }
    this.server?.wire.close();
    await this.service?.end();
  }
}

const skip = binary ? false : "PORCHLIGHT_BIN is not set";
const name = `two devices show the truth after ${rounds} rounds of chaos, seed ${seed}`;
test(name, { timeout, skip }, async (context) => {
  const world = new World();
  try {
    await world.start();
    for (let round = 0; round < rounds; round++) {
      for (let step = 0; step < steps; step++) await world.step();
      await world.rest();
      // The subscriptions are there in truth: everything that changes now is shown.
      for (const account of names) await world.publish(account);
      await world.agrees();
      const count = world.devices.map(({ wanted }) => wanted.size);
      const { logins, rejections } = world;
      context.diagnostic(`round ${round + 1}: ${count.join(" and ")} accounts agree after ` +
        `${logins} logins and ${rejections} rejections for the quota`);
    }
  } finally {
    await world.end();
  }
});
