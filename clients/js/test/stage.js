// Plays a scenario of ../../scenarios to the SDK: a scripted service, and a clock that stands still
// unless a step moves it.
import assert from "node:assert/strict";
import * as away from "../src/away.js";
import * as contacts from "../src/contacts.js";
import * as debug from "../src/debug.js";
import { SignedOut } from "../src/error.js";
import * as hold from "../src/hold.js";
import * as messages from "../src/messages.js";
import { Porchlight } from "../src/porchlight.js";
import * as push from "../src/push.js";

const BEGIN = 1_800_000_000_000;
/** The service's clock is ahead of the client's. */
const AHEAD = 5_000;

export const limits = {
  publishersPerRequestMax: 100, extBytesMax: 4_096, frameBytesMax: 262_144,
};

/** Everything that waits for no timer. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A clock that stands still, and its timers. */
export class Clock {
  now = BEGIN;
  timers = new Set();

  after(milliseconds, action) {
    const timer = { at: this.now + Math.max(0, milliseconds), action };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  /** Runs timers one by one until `isDone`; false if that does not happen until `limit`. */
  async run(isDone, limit) {
    await settled();
    while (!isDone()) {
      const [next] = [...this.timers].sort((a, b) => a.at - b.at);
      if (!next || next.at > limit) return false;
      this.now = Math.max(this.now, next.at);
      this.timers.delete(next);
      next.action();
      await settled();
    }
    return true;
  }
}

/** The service's side of a connection. */
class Line {
  requests = [];
  unanswered = [];
  keepAlives = 0;
  isAccepted = false;
  isMute = false;
  isOver = false;

  constructor(url, events) {
    this.url = url;
    this.events = events;
  }

  send(message) {
    // The client catches what is thrown here.
    if (!this.isAccepted) this.fault = "sent before the connection was open";
    if (this.isOver) this.fault = "sent after the connection was closed";
    if (message === "") {
      this.keepAlives += 1;
      if (!this.isMute) queueMicrotask(() => this.isOver || this.events.received(""));
      return;
    }
    const request = JSON.parse(message);
    assert.equal(request.jsonrpc, "2.0");
    this.requests.push(request);
    this.unanswered.push(request);
  }

  close() {
    this.isOver = true;
  }

  say(message) {
    assert(!this.isOver, "the client has closed the connection");
    this.events.received(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  lose(code, reason) {
    this.isOver = true;
    this.events.closed(code, reason);
  }
}

/** "u1..u250" becomes 250 names. */
const names = (list) => list.flatMap((name) => {
  const [, prefix, from, to] = /^(\D+)(\d+)\.\.\1(\d+)$/.exec(name) ?? [];
  if (!prefix) return [name];
  return Array.from({ length: to - from + 1 }, (_, index) => prefix + (Number(from) + index));
});

/** What a scenario leaves out of an event. */
const events = (list, now) => list.flatMap(({ of, publisher, ...members }) =>
  names(of ?? [publisher]).map((name) => ({
    type: 1, publisher: name, value: 1, cause: "sync", id: String(members.seq), time: now + AHEAD,
    ...(members.type >= 100 ? {} : { online: [] }), ...members,
  })));

const contains = (actual, expected, path) => {
  for (const [key, value] of Object.entries(expected)) {
    const found = actual?.[key] ?? null;
    if (value && typeof value === "object" && !Array.isArray(value)) {
      contains(found, value, `${path}.${key}`);
    } else {
      assert.deepEqual(found, value, `${path}.${key}`);
    }
  }
};

export class Stage {
  clock = new Clock();
  lines = [];
  watches = new Map();
  changed = new Map();
  calls = new Map();
  warnings = [];
  deviceNames = 0;
  isHidden = false;
  #randoms = 0;

  constructor({ options = {}, tokens, random = 0.5 }) {
    this.random = [random].flat();
    this.tokens = tokens;
    const token = tokens && (async () => {
      const token = this.tokens.length > 1 ? this.tokens.shift() : this.tokens[0];
      if (token === null) throw new Error("the app has no token now");
      if (token.signedOut) throw new SignedOut();
      if (token.after) await new Promise((done) => this.clock.after(token.after * 1_000, done));
      return token.token ?? token;
    });
    this.environment = {
      now: () => this.clock.now,
      after: (milliseconds, action) => this.clock.after(milliseconds, action),
      random: () => this.random[this.#randoms++ % this.random.length],
      open: (url, events) => {
        const line = new Line(url, events);
        this.lines.push(line);
        return line;
      },
      device: async () => {
        this.deviceNames += 1;
        return { name: "by-itself", release: () => (this.deviceNames -= 1) };
      },
      listen: (back, offline) => {
        this.network = { online: () => back(), offline, visible: () => back(true) };
        return () => (this.network = undefined);
      },
      isHidden: () => this.isHidden,
      warn: (text) => this.warnings.push(text),
      client: "web",
      parts: {
        away: async () => away,
        contacts: async () => contacts,
        debug: async () => debug,
        hold: async () => hold,
        messages: async () => messages,
        push: async () => push,
      },
    };
    this.porchlight =
      new Porchlight("wss://example.com/v1/socket", { token, ...options }, this.environment);
    this.started = 0;
  }

  get line() {
    return this.lines.at(-1);
  }

  async play(steps) {
    for (const [index, step] of steps.entries()) {
      try {
        await this.step(step);
        await settled();
      } catch (error) {
        error.message = `step ${index + 1}, ${JSON.stringify(step)}: ${error.message}`;
        throw error;
      }
    }
    this.quiet();
  }

  /** The client has said nothing that the scenario has not heard. */
  quiet() {
    assert.equal(this.lines.length, this.started, "it has opened a connection");
    const fault = this.lines.find((line) => line.fault)?.fault;
    assert(!fault, fault);
    const heard = this.line?.requests.map(({ method, params }) => ({ method, params }));
    assert.deepEqual(heard ?? [], []);
  }

  async within(isDone, [min, max], what) {
    const begin = this.clock.now;
    const isMet = await this.clock.run(isDone, begin + max * 1_000);
    const seconds = (this.clock.now - begin) / 1_000;
    assert(isMet, `no ${what} in ${max} s`);
    assert(seconds >= min, `${what} after ${seconds} s, which is too early`);
  }

  async step(step) {
    const [verb] = Object.keys(step);
    assert(typeof this[`on_${verb}`] === "function", `there is no step "${verb}"`);
    await this[`on_${verb}`](step[verb], step);
  }

  // What the service does.

  async on_connects(range) {
    await this.within(() => this.lines.length > this.started, range, "connection");
    this.started += 1;
    assert.equal(this.lines.length, this.started);
    this.line.isAccepted = true;
    this.line.events.opened();
  }

  async on_hears({ method, params = {} }, { within = [0, 0] }) {
    await this.within(() => this.line.requests.length > 0, within, `request ${method}`);
    const heard = this.line.requests.shift();
    assert.equal(heard.method, method);
    if (params.publishers) params = { ...params, publishers: names(params.publishers) };
    assert.deepEqual(heard.params, params);
  }

  on_answers(result) {
    const request = this.line.unanswered.shift();
    assert(request, "there is nothing to answer");
    const now = this.clock.now;
    if (request.method === "login") {
      const { expiresAfter, ...others } = result;
      if (expiresAfter) others.expires = now + AHEAD + expiresAfter * 1_000;
      const time = now + AHEAD;
      const { account = "alice" } = request.params;
      result = {
        account, heartbeat: 30, restartGraceSeconds: 30, subscriptions: 0, session: "1", time,
        limits, ...others,
      };
    } else if (request.method === "refresh") {
      result = { expires: now + AHEAD + result.expiresAfter * 1_000 };
    } else if (request.method === "subscribe") {
      const expires = now + AHEAD + request.params.expiry * 1_000;
      result = { ...result, expires, states: events(result.states ?? [], now) };
    }
    this.line.say({ id: request.id, result });
  }

  on_rejects(error) {
    const request = this.line.unanswered.shift();
    assert(request, "there is nothing to reject");
    this.line.say({ id: request.id, error: { message: "No.", ...error } });
  }

  on_says({ method, params = {} }) {
    if (params.events) params = { ...params, events: events(params.events, this.clock.now) };
    if (params.publishers) params = { ...params, publishers: names(params.publishers) };
    this.line.say({ method, params });
  }

  on_closes(params) {
    this.line.say({ method: "close", params: { message: "Closed.", ...params } });
    if (!this.line.isOver) this.line.lose(params.code, params.reason);
  }

  on_loses({ code = 1006, reason = "" }) {
    this.line.lose(code, reason);
  }

  on_garbles(text) {
    this.line.events.received(text);
  }

  on_mutes(isMute) {
    this.line.isMute = isMute;
  }

  // Time and the world.

  async on_passes(seconds, { keepAlives }) {
    const before = this.line?.keepAlives ?? 0;
    const end = this.clock.now + seconds * 1_000;
    await this.clock.run(() => this.lines.length > this.started || this.line?.requests.length, end);
    this.quiet();
    this.clock.now = end;
    if (keepAlives) {
      const count = this.line.keepAlives - before;
      assert(count >= keepAlives[0] && count <= keepAlives[1], `${count} keep-alives`);
    }
  }

  async on_sleeps(seconds) {
    this.clock.now += seconds * 1_000;
    await this.clock.run(() => false, this.clock.now);
  }

  on_jumps(seconds) {
    this.clock.now += seconds * 1_000;
  }

  on_network(what) {
    this.network[what]();
  }

  on_hides(isHidden) {
    this.isHidden = isHidden;
    if (!isHidden) this.network.visible();
  }

  // What the app does.

  on_tokens(tokens) {
    this.tokens = tokens;
  }

  on_watches(name, { accounts, type }) {
    const watch = this.porchlight.watch(names(accounts), { type });
    this.watches.set(name, watch);
    this.changed.set(name, new Set());
    watch.addEventListener("change", ({ detail }) => {
      for (const [account, presence] of detail) {
        assert.equal(watch.get(account), presence);
        this.changed.get(name).add(account);
      }
    });
  }

  on_adds(accounts, { to }) {
    this.watches.get(to).add(...names(accounts));
  }

  on_deletes(accounts, { from }) {
    this.watches.get(from).delete(...names(accounts));
  }

  on_unwatches(name) {
    this.watches.get(name).close();
  }

  on_setsStatus({ value, ...options }, { as }) {
    this.#call(as, this.porchlight.setStatus(value, options));
  }

  on_clearsStatus(options, { as }) {
    this.#call(as, this.porchlight.clearStatus(options));
  }

  on_setsAvailability(availability, { as }) {
    this.#call(as, this.porchlight.setAvailability(availability));
  }

  on_setsVisibility(visibility, { as }) {
    this.#call(as, this.porchlight.setVisibility(visibility));
  }

  on_awaits(name, { as }) {
    this.#call(as, this.watches.get(name).ready);
  }

  on_sends({ accounts, body, ...options }, { as }) {
    this.#call(as, this.porchlight.send(names(accounts), body, options));
  }

  on_asks() {
    const loop = (this.loop ??= this.porchlight.messages());
    this.given = null;
    loop.next().then(({ done, value }) => {
      if (loop === this.loop) this.given = done ? "end" : value.id;
    });
  }

  on_stops() {
    this.loop.return();
    this.loop = undefined;
  }

  on_reconnects() {
    this.porchlight.reconnect();
  }

  on_ends(options) {
    this.porchlight.close(options);
  }

  #call(as, promise) {
    this.calls.set(as, "pending");
    const outcome = (value) => typeof value === "object" ? "done" : value ?? "done";
    promise.then((value) => this.calls.set(as, outcome(value)), (error) => this.calls.set(as, error.reason));
  }

  // What the app sees.

  on_shows(presences, { in: name }) {
    for (const [list, expected] of Object.entries(presences)) {
      for (const account of names([list])) {
        contains(this.watches.get(name).get(account), expected, account);
      }
    }
  }

  on_given(id) {
    assert.equal(this.given, id);
  }

  on_changed(accounts, { in: name }) {
    assert.deepEqual([...this.changed.get(name)].sort(), names(accounts).sort());
    this.changed.get(name).clear();
  }

  on_condition(expected, { reason = null }) {
    assert.equal(this.porchlight.condition, expected);
    assert.equal(this.porchlight.error?.reason ?? null, reason);
    if (expected !== "closed") return;
    assert.equal(this.network, undefined, "it still listens");
    assert.equal(this.clock.timers.size, this.line?.isOver === false ? 1 : 0, "timers are left");
    assert.equal(this.deviceNames, 0, "it still has its device name");
  }

  on_nextAttempt(range) {
    const { nextAttempt } = this.porchlight;
    if (!range) return assert.equal(nextAttempt, undefined);
    const seconds = (nextAttempt - this.clock.now) / 1_000;
    assert(seconds >= range[0] && seconds <= range[1], `the next attempt is in ${seconds} s`);
  }

  on_account(name) {
    assert.equal(this.porchlight.account ?? null, name);
  }

  on_me(members) {
    if (members) contains(this.porchlight.me, members, "me");
    else assert.equal(this.porchlight.me, undefined);
  }

  on_settles(calls) {
    for (const [as, outcome] of Object.entries(calls)) {
      assert.equal(this.calls.get(as), outcome, as);
    }
  }

  /** The client has closed the connection. */
  on_hangsUp() {
    assert(this.line.isOver);
  }
}
