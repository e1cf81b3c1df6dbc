// The SDK against a model of the service, with latency, cut and dead connections, freezes, quotas,
// rejections, crashes that lose what was not stored, and other devices of the account, all from a
// seed. Whenever nothing is in flight, what is shown as current must be what the service has;
// nothing older may follow something newer unless the service has lost it; after the chaos
// everything must be current; and after `close()` nothing may follow, whenever that is.
// SIMULATE_SEED repeats a run, SIMULATE_RUNS is their number.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Porchlight } from "../src/porchlight.js";
import { generator } from "./random.js";
import { Clock, limits } from "./stage.js";

const runs = Number(process.env.SIMULATE_RUNS ?? 40);
const first = Number(process.env.SIMULATE_SEED ?? Math.floor(Math.random() * 2 ** 31));
const ACCOUNTS = 60;
const QUOTA = 45;
const HEARTBEAT = 30;
const STEPS = 400;

class World {
  clock = new Clock();
  states = new Map();
  subscriptions = new Map();
  lines = new Set();
  status;
  seq = 0;
  isChaotic = true;
  /** What a crash does not lose. */
  stored = new Map();
  crashes = 0;

  constructor(seed) {
    this.random = generator(seed);
    for (let index = 0; index < ACCOUNTS; index++) this.change("a" + index);
  }

  below(limit) {
    return Math.floor(this.random() * limit);
  }

  isLucky(probability) {
    return this.isChaotic && this.random() < probability;
  }

  /** Something happens to an account. Its `lastSeen` is its `seq`, so that it shows its age. */
  change(account) {
    const online = this.random() < 0.5 ? [{ client: "ios", device: "d" + this.below(3) }] : [];
    const seq = ++this.seq;
    this.states.set(account, {
      type: 1, publisher: account, value: 1, cause: "login", id: "1", seq, online, lastSeen: seq,
    });
    const events = [this.states.get(account)];
    if (this.subscriptions.has(account)) this.notify("events", { events });
  }

  /** The service is killed and starts again: what was not stored is as it was before. */
  crash() {
    for (const line of [...this.lines]) line.cut();
    // Numbers of before are not used again.
    this.seq += 1_000;
    this.states = new Map([...this.states].map(([account, state]) =>
      [account, this.stored.get(account) ?? state]));
    this.crashes += 1;
  }

  store() {
    for (const [account, state] of this.states) {
      if (this.random() < 0.7) this.stored.set(account, state);
    }
  }

  notify(method, params, except) {
    for (const line of this.lines) {
      if (line.isLoggedIn && line !== except) line.say({ method, params });
    }
  }

  subscribe(account, seconds) {
    this.subscriptions.get(account)?.();
    this.subscriptions.set(account, this.clock.after(seconds * 1_000, () => {
      this.subscriptions.delete(account);
      this.notify("expired", { type: 1, publishers: [account] });
    }));
  }

  /**
   * @param {Line} [line] of the device that does it; the others are told
   */
  unsubscribe(account, line) {
    this.subscriptions.get(account)?.();
    const isEnded = this.subscriptions.delete(account);
    if (isEnded) {
      const params = { type: 1, cause: "unsubscribed", publishers: [account] };
      this.notify("expired", params, line);
    }
    return isEnded;
  }

  sync(accounts) {
    return accounts.map((account) => ({ ...this.states.get(account), cause: "sync" }));
  }
}

/** A connection, with latency in both directions. Each keeps its order. */
class Line {
  isLoggedIn = false;
  /** No bytes arrive any more, in either direction, and neither side knows. */
  isDead = false;
  isClosed = false;
  inFlight = 0;
  #last = [0, 0];

  constructor(world, events) {
    this.world = world;
    this.events = events;
    this.crashes = world.crashes;
    world.lines.add(this);
    this.#travel(0, () => {
      if (world.isLucky(0.1)) this.cut();
      else events.opened();
    });
  }

  send(message) {
    if (this.isClosed) this.world.fault = "sent after the connection was closed";
    this.#travel(1, () => {
      if (!this.world.lines.has(this)) return;
      if (message === "") return this.#deliver("");
      const { id, method, params } = JSON.parse(message);
      const { result, error } = this.#answer(method, params);
      this.say({ id, result, error });
      if (method === "login" && result) this.#list(params.sync);
    });
  }

  say(message) {
    this.#deliver(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  stop(retryAfter) {
    this.say({ method: "close", params: { code: 4503, retryAfter } });
  }

  #deliver(message) {
    // Browsers may hand over what has arrived when the page has already closed the connection.
    this.#travel(0, () => this.events.received(message));
  }

  close() {
    this.isClosed = true;
    this.world.lines.delete(this);
    this.#travel(0, () => this.events.closed(1000, ""));
  }

  /** The end arrives after what was sent before it, or overtakes it. */
  cut(code = 1006, reason = "") {
    this.world.lines.delete(this);
    if (this.isClosed || this.isDead) return;
    const arrive = () => {
      if (this.isClosed) return;
      this.isClosed = true;
      this.events.closed(code, reason);
    };
    if (this.world.isLucky(0.5)) this.#travel(0, arrive);
    else arrive();
  }

  /** In one direction nothing overtakes. */
  #travel(direction, arrive) {
    const { clock } = this.world;
    const at = Math.max(this.#last[direction], clock.now + this.world.below(200));
    this.#last[direction] = at;
    this.inFlight += 1;
    clock.after(at - clock.now, () => {
      this.inFlight -= 1;
      if (!this.isDead) arrive();
    });
  }

  #answer(method, params) {
    const { world } = this;
    const error = (code, reason, data = {}) =>
      ({ error: { code, message: reason, data: { reason, ...data } } });
    if (world.isLucky(0.05)) return error(503, "overloaded", { retryAfter: world.below(20) });
    if (method === "login") {
      this.isLoggedIn = true;
      const time = world.clock.now + 1_000;
      const subscriptions = world.subscriptions.size;
      return { result: { heartbeat: HEARTBEAT, subscriptions, time, limits } };
    }
    if (method === "subscribe") {
      const added = params.publishers.filter((name) => !world.subscriptions.has(name));
      if (world.subscriptions.size + added.length > QUOTA) {
        const { size } = world.subscriptions;
        return error(419, "subscription_quota", { limit: QUOTA, count: size });
      }
      for (const name of params.publishers) world.subscribe(name, params.expiry);
      return { result: { count: world.subscriptions.size, states: world.sync(params.publishers) } };
    }
    if (method === "unsubscribe") {
      const removed = params.publishers.filter((name) => world.unsubscribe(name, this)).length;
      return { result: { removed, count: world.subscriptions.size } };
    }
    if (method === "logout") {
      this.isLoggedIn = false;
      return { result: {} };
    }
    assert(method === "publish" || method === "clear", method);
    world.status = params.value;
    return { result: {} };
  }

  /** In parts, each as it is when it is sent. What changes meanwhile is sent in between. */
  #list(sync) {
    const names = sync === "all" ? [...this.world.subscriptions.keys()] : [];
    let index = 0;
    const next = () => {
      if (!this.world.lines.has(this)) return;
      if (index >= names.length) {
        return this.say({ method: "synced", params: { count: names.length } });
      }
      const part = names.slice(index, (index += 7));
      const events = this.world.sync(part.filter((name) => this.world.subscriptions.has(name)));
      this.say({ method: "events", params: { sync: true, events } });
      this.world.clock.after(this.world.below(this.world.isChaotic ? 1_000 : 1), next);
    };
    next();
  }
}

const simulate = async (seed) => {
  const world = new World(seed);
  const { clock } = world;
  // Half of the runs without other devices, which may end a subscription that is wanted here.
  const isAlone = seed % 2 === 0;
  let network;
  /** The connection of the client, also if the service has lost it. */
  let current;
  const porchlight = new Porchlight("wss://example.com/", { account: "me", leaseSeconds: 600 }, {
    now: () => clock.now,
    after: (milliseconds, action) => clock.after(milliseconds, action),
    random: world.random,
    open: (url, events) => (current = new Line(world, events)),
    device: async () => ({ name: "d", release: () => {} }),
    listen: (online, offline) => {
      network = { online, offline };
      return () => {};
    },
    client: "web",
  });
  const newest = new Map();
  let crashes = 0;
  const watches = [];
  const watch = () => {
    const names = Array.from({ length: 1 + world.below(12) }, () => "a" + world.below(ACCOUNTS));
    const list = porchlight.watch(names);
    list.addEventListener("change", ({ detail }) => {
      // What the service has lost is not shown any more.
      if (crashes < (current?.crashes ?? 0)) newest.clear();
      crashes = current?.crashes ?? 0;
      for (const [account, presence] of detail) {
        const seq = presence?.live && presence.lastSeen || 0;
        if (seq) assert(seq >= (newest.get(account) ?? 0), `seed ${seed}: ${account} went back`);
        if (seq) newest.set(account, seq);
      }
    });
    watches.push(list);
  };
  const wanted = () => new Map(watches.flatMap((list) => [...list]));
  const line = () => [...world.lines].at(-1);
  const calm = () => !current || current.isClosed || (current.inFlight === 0 && !current.isDead);

  let checks = 0;
  /** What is shown as current is what the service has. */
  const check = () => {
    // The client catches what is thrown while it takes a message.
    assert.equal(world.fault ?? porchlight.error?.cause, undefined, `seed ${seed}`);
    if (!calm()) return;
    for (const [account, { live, lastSeen, is }] of wanted()) {
      const truth = world.states.get(account);
      if (!live) continue;
      checks += 1;
      assert.equal(lastSeen, truth.seq, `seed ${seed}: ${account} is shown as current`);
      assert.equal(is, truth.online.length ? "online" : "offline");
    }
  };

  const deeds = [
    [30, () => world.change("a" + world.below(ACCOUNTS))],
    [4, () => watches.length < 4 && watch()],
    [3, () => watches.length && watches.splice(world.below(watches.length), 1)[0].close()],
    [4, () => watches[0]?.add("a" + world.below(ACCOUNTS))],
    [4, () => watches[0]?.delete("a" + world.below(ACCOUNTS))],
    [3, () => line()?.cut()],
    [1, () => line()?.stop(world.below(30))],
    [1, () => line() && (line().isDead = true)],
    [2, () => network[world.random() < 0.5 ? "online" : "offline"]()],
    [2, () => porchlight.setStatus(10_000 + world.below(1_000))],
    [1, () => (clock.now += world.below(400) * 1_000)],
    [2, () => world.crash()],
    [4, () => world.store()],
    [0.5, () => porchlight.reconnect()],
    [isAlone ? 0 : 3, () => world.unsubscribe("a" + world.below(ACCOUNTS))],
    [isAlone ? 0 : 3, () => world.subscriptions.size < QUOTA
      && world.subscribe("a" + world.below(ACCOUNTS), 600)],
  ];
  const total = deeds.reduce((sum, [weight]) => sum + weight, 0);
  watch();
  for (let step = 0; step < STEPS; step++) {
    let choice = world.below(total);
    deeds.find(([weight]) => (choice -= weight) < 0)[1]();
    await clock.run(() => false, clock.now + world.below(world.random() < 0.1 ? 300_000 : 3_000));
    check();
  }

  world.isChaotic = false;
  while (wanted().size > QUOTA - 5) watches.pop().close();
  const last = porchlight.setStatus(20_000);
  // Two leases: what other devices wanted has expired, and everything wanted here was renewed.
  await clock.run(() => false, clock.now + 1_300_000);
  await last;
  assert.equal(porchlight.condition, "connected", `seed ${seed}`);
  assert.equal(world.status, 20_000);
  for (const [account, { live, lastSeen }] of wanted()) {
    assert(live, `seed ${seed}: ${account} is not current`);
    assert.equal(lastSeen, world.states.get(account).seq, `seed ${seed}: ${account}`);
  }
  return end(world, porchlight, `seed ${seed}`).then(() => checks);
};

/** Closes it in the middle of something: nothing may follow, and nothing may stay. */
const end = async (world, porchlight, where) => {
  const { clock } = world;
  world.isChaotic = world.random() < 0.5;
  const list = porchlight.watch(Array.from({ length: 10 }, (_, index) => "a" + (50 + index)));
  const calls = [porchlight.setStatus(20_001), porchlight.setStatus(100, { type: 100 })];
  if (world.random() < 0.3) world.crash();
  await clock.run(() => false, clock.now + world.below(400));
  const settled = Promise.allSettled(calls);
  porchlight.close({ logout: world.random() < 0.7 });
  for (let step = 0; step < 20; step++) {
    world.change("a" + world.below(ACCOUNTS));
    await clock.run(() => false, clock.now + world.below(1_000));
    assert.equal(porchlight.condition, "closed", where);
  }
  for (const cancel of world.subscriptions.values()) cancel();
  await clock.run(() => false, clock.now + 1_300_000);
  assert.equal(clock.timers.size, 0, `${where}: timers are left`);
  assert([...list.values()].every(({ live }) => !live), where);
  await settled;
  await assert.rejects(porchlight.setStatus(20_002), { reason: "closed" });
};

test(`${runs} simulations from seed ${first}`, { timeout: 60_000 + runs * 1_000 }, async (context) => {
  let checks = 0;
  for (let run = 0; run < runs; run++) checks += await simulate(first + run);
  context.diagnostic(`${checks} rows were compared at rest`);
});
