// How an app uses the types: checked, not run.
import { connect, Porchlight, PorchlightError, SignedOut, Watch } from "porchlight";
import { PorchlightDot } from "porchlight/dot";
import type {
  Availability, Changes, Contact, ContactChanges, Contacts, Condition, Device, Message, MessageOptions, Options, Presence, Sent, Status,
  StatusOptions, Visibility,
} from "porchlight";

const options: Options = { token: async () => "a.b.c", leaseSeconds: 600, messages: true, contacts: true };
const porchlight: Porchlight = connect("wss://presence.example.com/v1/socket", options);
const friends: Watch = porchlight.watch(["bob", "carol"]);
const songs = porchlight.watch(new Set(["bob"]), { type: 100 });

friends.addEventListener("change", (event) => {
  for (const [account, presence] of event.detail) {
    const name: string = account;
    const is: "online" | "away" | "offline" | "unknown" | undefined = presence?.is;
    console.log(name, is);
  }
}, { once: true });

const map: ReadonlyMap<string, Presence> = friends;
friends.forEach((presence, account, watch) => console.log(presence.is, account.length, watch.size));
const show: "chat" | "away" | "xa" | "dnd" | undefined = map.get("bob")?.devices[0]?.show;
console.log(show);

connect("wss://presence.example.com", {
  token: () => { throw new SignedOut(); },
  debug: (text) => console.log(text.length),
});
connect("wss://presence.example.com", { account: "alice", debug: true, away: { after: 60 } });
connect("wss://presence.example.com", { account: "alice", away: {} });
// @ts-expect-error A function that asks for a token returns it.
connect("wss://presence.example.com", { token: () => {} });

const dot: PorchlightDot = new PorchlightDot();
dot.account = dot.presence.account;
PorchlightDot.text = ({ is, live }) => (live ? is : "?");
PorchlightDot.use(porchlight);
PorchlightDot.use(null);
// @ts-expect-error What is known does not change by it.
dot.presence = bob;

const bob: Presence | undefined = friends.get("bob");
const status: Status | undefined = bob?.status;
const text: string | undefined = status?.text;
const devices: readonly Device[] = bob?.devices ?? [];
const lastSeen: number | undefined = bob?.lastSeen;
for (const [account, { is, live }] of friends) console.log(account.length, is, live === true);
for (const presence of friends.values()) console.log(presence.account);
console.log(text, devices, lastSeen, songs.size, friends.has("bob"));

porchlight.addEventListener("change", (event) => {
  const isEvent: Event = event;
  // @ts-expect-error It has no detail.
  console.log(isEvent.type, event.detail);
  const condition: Condition = porchlight.condition;
  const error: PorchlightError | undefined = porchlight.error;
  console.log(condition, error?.reason, error?.code);
});

const stop = (): (() => void) => {
  const draw = () => {};
  friends.addEventListener("change", draw);
  return () => friends.removeEventListener("change", draw);
};

export async function main() {
  await porchlight.setStatus(10_001, { text: "in a meeting", seconds: 3_600, durable: true });
  const hour: StatusOptions = { text: "at lunch", seconds: 3_600 };
  await porchlight.setStatus(10_002, hour);
  await porchlight.setStatus(10_003, { whileOnline: true });
  const isKnown: boolean = await friends.ready;
  const busy: Availability = { show: "dnd", text: "until noon", priority: -1 };
  await porchlight.setAvailability(busy);
  await porchlight.setAvailability();
  const contacts: Contacts = await porchlight.contacts();
  const dan: Contact | undefined = await contacts.request("dan", { text: "We met on Monday." });
  await contacts.describe("dan", { name: "Dan", groups: new Set(["work"]) });
  const gone: void = await contacts.remove("dan");
  contacts.addEventListener("change", ({ detail }) => {
    const all: ContactChanges = detail;
    for (const [account, contact] of all) console.log(account, contact?.presence?.is, gone);
  });
  contacts.addEventListener("action", ({ detail: { account, action } }) => {
    const word: "request" | "cancel" | "accept" | "deny" = action;
    console.log(account.length, word);
  });
  const known: ReadonlyMap<string, Contact> = contacts;
  console.log(dan?.subscription === "both", known.size, dan?.groups?.[0]);
  // @ts-expect-error There is no such word.
  await porchlight.setAvailability({ show: "gone" });
  const visibility: Visibility = await porchlight.setVisibility("default");
  console.log(isKnown, visibility);
  await porchlight.clearStatus();
  await porchlight.clearStatus({ type: 100 });
  const minute: MessageOptions = { ext: "{}", expiry: 60, device: "phone", ref: "m1" };
  const sent: Sent = await porchlight.send("bob", "lunch?", minute);
  await porchlight.send(new Set(["bob", "carol"]), "lunch?");
  for await (const message of porchlight.messages()) {
    const known: Message = message;
    const from: string | undefined = known.from;
    console.log(from, message.body.length, message.ext, message.time > sent.time);
    // @ts-expect-error A message does not change.
    message.body = "";
  }
  // @ts-expect-error A message has a body.
  await porchlight.send("bob");
  friends.add("dave", "erin");
  friends.delete("bob");
  for await (const changes of friends.changes()) {
    const all: Changes = changes;
    console.log(all.size);
  }
  stop()();
  friends.close();
  porchlight.close({ logout: false });
  // @ts-expect-error A presence does not change.
  if (bob) bob.is = "online";
  // @ts-expect-error A value is a number.
  await porchlight.setStatus("busy");
}
