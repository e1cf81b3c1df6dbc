import { connect } from "http://127.0.0.1:7401/sdk/index.js";

const account = new URLSearchParams(location.search).get("me") ?? "alice";
const porchlight = connect("ws://127.0.0.1:7400/v1/socket", { account });
const friends = porchlight.watch(["alice", "bob", "carol", "dave"]);
const [me, condition, list, form] = document.querySelectorAll("h1 span, p, ul, form");

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
