// Contacts: a scripted service for what depends on order, and the real one.
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { connect } from "../src/node.js";
import { Service, binary, until } from "./service.js";
import { settled, Stage } from "./stage.js";

describe("with a scripted service", () => {
  let stage, contacts, changes, actions, found;
  const login = {
    method: "login",
    params: { account: "alice", device: "d", client: "web", contacts: true, sync: "all" },
  };
  const steps = async (...all) => {
    for (const step of all) {
      await stage.step(step);
      await settled();
    }
  };
  const list = (params = { limit: 1_000 }) => ({ hears: { method: "contacts", params } });
  const event = (publisher, seq, online, cause = "shown") =>
    ({ says: { method: "events", params: { events: [{ publisher, seq, online, cause }] } } });
  const tells = (contact, action) => ({ says: { method: "contact", params: { contact, action } } });
  const online = [{ client: "ios", device: "phone" }];

  beforeEach(async () => {
    changes = [];
    actions = [];
    found = [];
    stage = new Stage({ options: { account: "alice", device: "d", contacts: true } });
    contacts = await stage.porchlight.contacts();
    contacts.addEventListener("change", ({ detail }) => changes.push([...detail.keys()].join()));
    contacts.addEventListener("action", ({ detail }) => {
      actions.push(detail);
      found.push(contacts.get(detail.account)?.subscription);
    });
  });
  afterEach(() => stage.porchlight.close({ logout: false }));

  test("they are listed after each login, with what is known of those that are seen", async () => {
    let outcome;
    contacts.ready.then((isKnown) => (outcome = isKnown));
    await steps({ connects: [0, 0] }, { hears: login }, { answers: {} }, list(),
      // The login list is sent before the response.
      event("bob", 5, online, "sync"), event("dan", 6, [], "sync"), event("erin", 7, online, "sync"));
    assert.equal(outcome, undefined);
    await steps({ answers: {
      contacts: [{ account: "bob", subscription: "both", name: "Bob", groups: ["work"] }],
      count: 3, cursor: "c",
    } }, list({ limit: 1_000, cursor: "c" }));
    // What changes during the list comes after it.
    await steps(tells({ account: "fred", subscription: "none", listed: false, request: {} }, "request"));
    assert.equal(contacts.size, 0);
    assert.deepEqual(actions, []);
    await steps({ answers: { contacts: [
      { account: "dan", subscription: "to" }, { account: "carol", subscription: "from" },
    ], count: 3 } });
    assert.equal(outcome, true);
    assert.deepEqual([...contacts.keys()], ["bob", "dan", "carol", "fred"]);
    assert.equal(contacts.get("bob").presence.is, "online");
    assert.equal(contacts.get("bob").name, "Bob");
    assert.equal(contacts.get("dan").presence.is, "offline");
    assert.equal(contacts.get("carol").presence, undefined);
    assert.deepEqual(actions, [{ account: "fred", action: "request" }]);
    assert.deepEqual(changes, ["bob,dan,carol,fred"]);
    assert(Object.isFrozen(contacts.get("bob")));

    const { bob, carol } = Object.fromEntries(contacts);
    await steps({ loses: {} });
    assert.equal(contacts.get("bob").presence.live, false);
    assert.equal(contacts.get("carol"), carol);
    assert.equal(bob.presence.live, true, "a contact does not change");
    await steps({ connects: [0, 1] }, { hears: login }, { answers: {} }, list(),
      event("bob", 9, [], "sync"),
      { answers: { contacts: [{ account: "bob", subscription: "to" }], count: 1 } });
    assert.deepEqual([...contacts.keys()], ["bob"]);
    assert.deepEqual([contacts.get("bob").presence.is, contacts.get("bob").name], ["offline", undefined]);
  });

  test("a call during the list resolves after it, and so does what another account has done", async () => {
    let outcome = "pending";
    const request = { method: "relate", params: { contact: "dan", action: "request" } };
    const dan = { account: "dan", subscription: "none", ask: true };
    await steps({ connects: [0, 0] }, { hears: login }, { answers: {} }, list());
    contacts.request("dan").then((contact) => (outcome = contact));
    await settled();
    await steps({ hears: request },
      { answers: { contacts: [{ account: "dan", subscription: "none" }], count: 2, cursor: "c" } },
      { answers: { contact: dan } }, list({ limit: 1_000, cursor: "c" }));
    assert.equal(outcome, "pending");
    await steps(tells({ ...dan, subscription: "to" }, "accept"), { loses: {} });
    assert.deepEqual([outcome, actions], ["pending", []]);
    await steps({ connects: [0, 1] }, { hears: login }, { answers: {} }, list(),
      { answers: { contacts: [{ account: "dan", subscription: "to" }], count: 1 } });
    assert.equal(outcome, contacts.get("dan"));
    assert.equal(outcome.subscription, "to");
    assert.deepEqual([actions, found], [[{ account: "dan", action: "accept" }], ["to"]]);
  });

  test("a call that was answered during the list resolves when the client is closed", async () => {
    await steps({ connects: [0, 0] }, { hears: login }, { answers: {} }, list());
    const asked = contacts.request("dan");
    await settled();
    const [page] = stage.line.unanswered.splice(0, 1);
    await steps({ hears: { method: "relate", params: { contact: "dan", action: "request" } } },
      { answers: { contact: { account: "dan", subscription: "none", ask: true } } });
    assert.equal(page.method, "contacts");
    stage.porchlight.close({ logout: false });
    assert.deepEqual(await asked, { account: "dan", subscription: "none", ask: true });
  });

  test("of accounts that are no contacts, the newest events are kept, and no more", async () => {
    await steps({ connects: [0, 0] }, { hears: login }, { answers: {} }, list(),
      event("p0", 1, online), { answers: { contacts: [], count: 0 } });
    const many = Array.from({ length: 1_000 }, (_, each) =>
      ({ publisher: `p${each + 1}`, seq: 1, online, cause: "shown" }));
    await steps({ says: { method: "events", params: { events: many } } },
      ...["p0", "p1", "p1000"].map((account) => tells({ account, subscription: "to" })));
    assert.deepEqual([...contacts.values()].map(({ presence }) => presence.is),
      ["unknown", "online", "online"]);
  });

  test("a busy service is asked again, and one that rejects settles `ready`", async () => {
    let outcome;
    contacts.ready.then((isKnown) => (outcome = isKnown));
    await steps({ connects: [0, 0] }, { hears: login }, { answers: {} }, list(),
      { rejects: { code: 503, data: { reason: "overloaded", retryAfter: 2 } } });
    assert.equal(outcome, undefined);
    await steps({ ...list(), within: [2, 4] },
      { rejects: { code: 403, data: { reason: "forbidden" } } });
    assert.equal(outcome, false);
  });

  test("`ready` settles when the client is closed", async () => {
    const { ready } = contacts;
    stage.porchlight.close();
    assert.equal(await ready, false);
    await assert.rejects(contacts.accept("bob"), { reason: "closed" });
    assert.equal(stage.clock.timers.size, 0);
  });

  test("what is done is known with its response, whatever comes first", async () => {
    await steps({ connects: [0, 0] }, { hears: login }, { answers: {} }, list(),
      { answers: { contacts: [], count: 0 } });
    const relate = (action, more) =>
      ({ hears: { method: "relate", params: { contact: "dan", action, ...more } } });
    const asked = contacts.request("dan", { text: "We met on Monday." });
    await settled();
    await steps(relate("request", { text: "We met on Monday." }), event("dan", 4, online),
      { answers: { contact: { account: "dan", subscription: "to" } } });
    assert.equal((await asked).presence.is, "online");
    const removed = contacts.remove("dan");
    await settled();
    await steps(relate("remove"), { loses: {} }, { connects: [0, 1] }, { hears: login },
      { answers: {} }, list(), relate("remove"),
      { answers: { contacts: [], count: 0 } },
      { rejects: { code: 404, data: { reason: "unknown_contact" } } });
    assert.equal(await removed, undefined);
    assert.equal(contacts.size, 0);
    const invalid = assert.rejects(contacts.accept("alice"), { reason: "not_permitted" });
    await settled();
    await steps({ hears: { method: "relate", params: { contact: "alice", action: "accept" } } },
      { rejects: { code: 403, data: { reason: "not_permitted" } } });
    await invalid;
  });
});

describe("with the real service", { skip: binary ? false : "PORCHLIGHT_BIN is not set" }, () => {
  test("two accounts ask, see each other, and part", { timeout: 30_000 }, async (context) => {
    const service = await new Service().start();
    const clients = [];
    context.after(async () => {
      for (const client of clients) client.close({ logout: false });
      await service.end();
    });
    const client = async (account) => {
      const porchlight = connect(service.url, { account, device: "test", contacts: true });
      clients.push(porchlight);
      const contacts = await porchlight.contacts();
      assert.equal(await contacts.ready, true);
      return [porchlight, contacts];
    };
    const [, carol] = await client("carol");
    const [dan, dans] = await client("dan");
    await dan.setVisibility("approved");
    const asked = await carol.request("dan", { text: "We met on Monday." });
    assert.deepEqual([asked.subscription, asked.ask, asked.presence], ["none", true, undefined]);
    await until(dans, () => dans.get("carol")?.request?.text === "We met on Monday.");
    assert.equal(dans.get("carol").listed, false);
    assert.equal((await dans.accept("carol")).subscription, "from");
    await until(carol, () => carol.get("dan").presence?.is === "online");
    await dan.setStatus(10_001, { text: "busy" });
    await until(carol, () => carol.get("dan").presence.status?.text === "busy");
    await dans.describe("carol", { name: "Carol K.", groups: ["work"] });
    assert.deepEqual([dans.get("carol").name, dans.get("carol").groups], ["Carol K.", ["work"]]);
    // A session that begins later knows it, too.
    const [, again] = await client("carol");
    await until(again, () => again.get("dan")?.presence?.is === "online");
    await dans.remove("carol");
    await until(again, () => again.get("dan").subscription === "none");
    assert.equal(again.get("dan").presence, undefined);
    assert.equal(dans.size, 0);
    await again.remove("dan");
    await again.remove("dan");
    assert.equal(again.size, 0);
  });

  test("it needs the option", async () => {
    const stage = new Stage({ options: { account: "alice", device: "d" } });
    await assert.rejects(stage.porchlight.contacts(), /`contacts`/);
    stage.porchlight.close();
  });
});
