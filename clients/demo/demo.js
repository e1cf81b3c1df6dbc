import { connect } from "http://127.0.0.1:7401/sdk/index.js";

const account = new URLSearchParams(location.search).get("me") ?? "alice";
const porchlight = connect("ws://127.0.0.1:7400/v1/socket", { account, messages: true });
const friends = porchlight.watch(["alice", "bob", "carol", "dave"]);
const [me, condition, list, form, message, messages, notify] =
  document.querySelectorAll("h1 span, #condition, ul, form, #notify");

friends.addEventListener("change", () => list.replaceChildren(...[...friends].map(([name, now]) => {
  const item = document.createElement("li");
  item.className = `${now.is} ${now.live ? "" : "old"}`;
  item.textContent = [name, now.is, now.status?.text].filter(Boolean).join(" · ");
  return item;
})));
porchlight.addEventListener("change", () => { condition.textContent = porchlight.condition; });
form.set.onclick = () => porchlight.setStatus(10001, { text: form.text.value, seconds: 3600 });
form.clear.onclick = () => porchlight.clearStatus();
form.onsubmit = () => false;
me.textContent = account;

message.onsubmit = () => {
  const text = message.body.value;
  message.body.value = "";
  porchlight.send(message.to.value, text).catch((error) => show(error.message));
  return false;
};
const show = (text) => {
  const item = document.createElement("li");
  item.textContent = text;
  messages.append(item);
};
notify.onclick = () => porchlight.enablePush().then(
  () => { notify.disabled = true; }, (error) => show(error.message));
navigator.serviceWorker?.register("push.js");
for await (const { from, body } of porchlight.messages()) show(`${from ?? "the service"}: ${body}`);
