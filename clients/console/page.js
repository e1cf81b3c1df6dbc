// Names and numbers as text, and elements that have it. Text becomes text nodes, never markup.

const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Cn}]/gu;

/** A text from outside with everything escaped that changes how it is shown, as `porchlight watch`
 *  does: control characters, and marks for the direction of text. */
export function visible(text) {
  return String(text ?? "?").replace(hidden, (mark) => `\\u{${mark.codePointAt(0).toString(16)}}`);
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** A number with at most one digit after the point, and none from 100 on. */
export function number(value) {
  return value === undefined ? "–" : (Math.abs(value) < 100 ? tenths : whole).format(value);
}

export function bytes(value) {
  if (value === undefined) return "–";
  if (value < 1_024) return `${value} B`;
  if (value < 1_048_576) return `${number(value / 1_024)} KiB`;
  return value < 1_073_741_824
    ? `${number(value / 1_048_576)} MiB` : `${(value / 1_073_741_824).toFixed(2)} GiB`;
}

/** A duration, with its two largest units. */
export function duration(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The time of day, such as `09:05:00`. */
export const clock = (time) => new Date(time).toTimeString().slice(0, 8);

/** The time of day, with the date unless that is today. */
export function moment(time) {
  const date = new Date(time);
  if (date.toDateString() === new Date().toDateString()) return clock(time);
  return `${date.toLocaleDateString("sv")} ${clock(time)}`; // Sweden writes 2026-01-31
}

export const find = (selector, root = document) => root.querySelector(selector);

/** An element with attributes, listeners (`onclick`) and children: nodes or texts. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== false));
  return made;
}

/** Sets the text only where it differs, so that it is not announced again. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Rows of a table, or the note below it that there are none. What has focus keeps it. */
export function fill(table, rows) {
  const [body] = table.tBodies;
  const { activeElement: focused } = document;
  const wasInside = body.contains(focused);
  table.hidden = !rows.length;
  table.nextElementSibling.hidden = rows.length > 0;
  if (rows.map(({ textContent }) => textContent).join("") === body.textContent) return;
  body.replaceChildren(...rows);
  const isSame = ({ ariaLabel, textContent }) =>
    ariaLabel === focused.ariaLabel && textContent === focused.textContent;
  if (wasInside) [...body.querySelectorAll("a, button")].find(isSame)?.focus();
}

const hash = (members) => `#${new URLSearchParams(members)}`;

export const accountHash = (account) => hash({ account });
export const whyHash = (account, subscriber, publisher) =>
  hash({ ...(account === null ? {} : { account }), subscriber, publisher });

/** The name of an account, which leads to its card. */
export const accountLink = (account) =>
  element("a", { class: "name", href: accountHash(account), title: visible(account) },
    visible(account));

/** Whether an account is online: by shape and text, and not by colour alone. */
export function dot(kind) {
  const sign = { online: "●", offline: "○", status: "◆", unknown: "◌" }[kind];
  return element("span", { class: `dot ${kind}`, role: "img", "aria-label": kind }, sign);
}
