import { connect } from "./sdk/porchlight.min.js";
import { cut } from "./network.js";
import { CUSTOM, avatar, dot, people, state, states, why } from "./people.js";
import { report } from "./report.js";
import { service } from "./service.js";

const account = new URLSearchParams(location.search).get("me") || people[0];
const others = people.filter((name) => name !== account);

const porchlight = connect(service, { account, messages: true });
const friends = porchlight.watch(others);

const find = (selector) => document.querySelector(selector);
const [stateForm, messageForm] = document.forms;
document.title = find("h1").textContent = account;
avatar(find("#avatar"), account);

// Friends: drawn again at each change, and now and then for "last seen".

const draw = () => find("#friends").replaceChildren(...others.map((name) => {
  const friend = friends.get(name);
  const item = find("template").content.cloneNode(true).firstElementChild;
  item.dataset.account = name;
  item.className = `${friend.is} ${friend.live ? "" : "old"}`;
  avatar(item.querySelector(".avatar"), name);
  item.querySelector(".dot").classList.add(dot(friend));
  item.querySelector(".name").textContent = name;
  item.querySelector(".state").textContent = state(friend);
  item.querySelector(".why").textContent = why(friend);
  return item;
}));
friends.addEventListener("change", draw);
setInterval(draw, 10_000);

// My own state: what is chosen, unless the service says otherwise.

const setState = () => {
  const value = Number(stateForm.value.value);
  const text = stateForm.text.value.trim();
  const seconds = Number(stateForm.seconds.value);
  const set = value || text
    // The demo kills the service: what was confirmed is to be there afterwards.
    ? porchlight.setStatus(value || CUSTOM, { text, seconds, durable: true })
    : porchlight.clearStatus();
  set.catch((error) => note(error.message));
  reported.stateSet();
};
stateForm.onchange = ({ target }) => { if (target.name === "value") setState(); };
stateForm.onsubmit = (event) => { event.preventDefault(); setState(); };
stateForm.clear.onclick = () => { stateForm.reset(); setState(); };

const CONDITIONS = { waiting: "no connection, trying again", closed: "logged out" };
porchlight.addEventListener("change", () => {
  const { condition, error, me } = porchlight;
  document.body.className = condition;
  find("#condition").textContent = condition === "closed" && error
    ? error.message : CONDITIONS[condition] ?? condition;
  find("#logout").textContent = condition === "closed" ? "Log in" : "Log out";
  if (!me?.live) return;
  find("#me").textContent = `Others see: ${state(me)}`;
  stateForm.value.value = states.has(me.status?.value) ? me.status.value : 0;
});

// Messages: those for others wait in the service until a device has taken them.

/** A text of somebody, which turns only itself if its direction is another. */
const said = (text) => {
  const element = document.createElement("bdi");
  element.textContent = text;
  return element;
};
const note = (parts, className = "") => {
  const item = document.createElement("li");
  item.append(...[parts].flat());
  item.className = className;
  find("#messages").append(item);
  find("#messages").scrollTop = find("#messages").scrollHeight;
  return item;
};
for (const name of others) messageForm.to.add(new Option(name));
messageForm.onsubmit = async (event) => {
  event.preventDefault();
  const to = messageForm.to.value;
  const item = note([`to ${to}: `, said(messageForm.body.value)], "mine pending");
  try {
    const sent = porchlight.send(to, messageForm.body.value);
    messageForm.body.value = "";
    await sent;
    item.className = "mine";
    if (friends.get(to).is !== "online") item.append(` (${to} was offline)`);
  } catch (error) {
    item.className = "mine failed";
    item.append(` (${error.message})`);
  }
};

find("#notify").onclick = ({ currentTarget: button }) => {
  if (button.ariaDisabled === "true") return;
  porchlight.enablePush().then(
    () => { button.ariaDisabled = "true"; }, (error) => note(error.message, "failed"));
};
navigator.serviceWorker?.register("push.js");

// Ways to be offline.

find("#logout").onclick = () => {
  if (porchlight.condition === "closed") location.reload();
  else porchlight.close();
};
find("#cut").onclick = ({ target }) => {
  const isCut = target.getAttribute("aria-pressed") !== "true";
  target.setAttribute("aria-pressed", isCut);
  cut(isCut);
};

const reported = report(account, porchlight, friends, note);
for await (const message of porchlight.messages()) {
  const isNew = reported.received(message);
  note([said(message.from ?? "the service"), ": ", said(message.body)], isNew ? "test" : "");
}
