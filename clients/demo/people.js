// Who is in the demo, and what is said of them.

export const people = ["alice", "bob", "carol", "dave"];

/** The states to choose from, by the value of the status. Values from 10000 up are the app's own. */
export const states = new Map([
  [0, "online"], [10002, "away"], [10003, "busy"], [10001, "in a meeting"],
]);
/** The value of a status that is only a text. */
export const CUSTOM = 10000;

/** Makes an element a round avatar: initials, and a colour that is the same on every page. */
export const avatar = (element, name) => {
  element.textContent = name.slice(0, 2).toUpperCase();
  let hash = 0;
  for (const letter of name) hash = (hash * 98 + letter.codePointAt(0)) % 360;
  element.style.setProperty("--hue", hash);
};

const relative = new Intl.RelativeTimeFormat("en");
const ago = (time) => {
  const seconds = Math.max(0, Math.round((Date.now() - time) / 1000));
  if (seconds < 10) return "just now";
  if (seconds < 60) return relative.format(-Math.round(seconds / 10) * 10, "second");
  if (seconds < 3600) return relative.format(-Math.floor(seconds / 60), "minute");
  if (seconds < 86400) return relative.format(-Math.floor(seconds / 3600), "hour");
  return relative.format(-Math.floor(seconds / 86400), "day");
};
const clock = (time) => new Date(time).toLocaleTimeString("en", { timeStyle: "short" });

/** How a dot looks: the state while online, else that there is none. */
export const dot = ({ is, status }) =>
  is !== "online" ? is : (states.get(status?.value) ?? "online").split(" ").pop();

/** The state in words: `online`, `busy · writing`, `offline`. */
export const state = ({ is, status }) => {
  const word = is === "online" ? states.get(status?.value) ?? "online" : is;
  return [word, status?.text].filter(Boolean).join(" · ");
};

/** Why a user is grey, or what else there is to know. */
export const why = ({ is, live, cause, lastSeen, devices, status }) => {
  if (!live) return is === "unknown" ? "not known yet" : "may be old: not live";
  if (is === "online") {
    const clients = [...new Set(devices.map(({ client }) => client))].join(", ");
    const until = status && status.expires < Date.now() + 86_400_000
      ? `until ${clock(status.expires)}` : "";
    // What another one has written is last: it can be of any direction.
    return [until, devices.length > 1 ? `${devices.length} devices: ${clients}` : clients]
      .filter(Boolean).join(" · ");
  }
  const reasons = { logout: "logged out", disconnect: "connection lost" };
  return [reasons[cause], lastSeen ? `last seen ${ago(lastSeen)}` : "never seen"]
    .filter(Boolean).join(" · ");
};
