import { connect } from "{{porchlight}}/sdk/porchlight.min.js";

const [me, condition, list, status, logout] =
  ["me", "condition", "friends", "status", "logout"].map((id) => document.getElementById(id));

// The SDK calls this at each login, and a minute before a token expires.
async function token() {
  const response = await fetch("/token");
  if (response.status === 401) location.reload(); // signed out: the page is the form now
  if (!response.ok) throw new Error(`/token: ${response.status}`);
  return response.text();
}

const porchlight = connect("{{socket}}", { token });
porchlight.addEventListener("change", () => {
  me.textContent = porchlight.account ?? "…";
  condition.textContent = porchlight.condition;
});

const friends = porchlight.watch(await (await fetch("/friends")).json());
friends.addEventListener("change", () => {
  list.replaceChildren(...[...friends].map(([name, friend]) => {
    const item = document.createElement("li");
    item.className = friend.live ? friend.is : "old"; // what is shown may be old
    // As text, never as HTML: names and statuses are what users have typed.
    item.textContent = [name, friend.is, friend.status?.text].filter(Boolean).join(" · ");
    return item;
  }));
});

status.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = status.elements.text.value;
  const call = text
    ? porchlight.setStatus(10001, { text, seconds: 3600 }) : porchlight.clearStatus();
  call.catch((error) => { condition.textContent = error.message; });
});

// Friends see it at once, not after the grace of a lost connection.
logout.addEventListener("submit", () => porchlight.close());
