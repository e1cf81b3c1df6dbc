// The console: asks the service once a second how it is, and shows it.

import { Problem, call, hasKey, useKey } from "./api.js";
import { Answers } from "./cards.js";
import { Chart, Samples } from "./chart.js";
import { Feed } from "./feed.js";
import {
  accountLink, bytes, clock, duration, element, fill, find, number, say, visible,
} from "./page.js";

const EVERY = 1_000; // milliseconds between samples
const EVERY_HIDDEN = 10_000;
const HANG_UP = 60_000; // how long a hidden page reads the feed
const WAIT_MAX = 15_000; // between attempts while there is no connection

const counters = [
  ["Online", ({ stats }) => number(stats.accountsOnline)],
  ["Connections", ({ stats }) => number(stats.connections)],
  ["Subscriptions", ({ stats }) => number(stats.subscriptions)],
  ["Statuses", ({ stats }) => number(stats.statuses)],
  ["Messages", ({ stats }) => number(stats.messagesWaiting)],
  ["Clients behind", ({ top }) => number(top.readerCount), ({ top }) => top.readerCount > 0],
  ["Writes waiting", ({ stats }) => number(stats.storePending),
    ({ stats }) => stats.storeRetained > 0],
  ["Feed readers", ({ stats }) => number(stats.feedReaders)],
  ["Memory", ({ top }) => bytes(top.gauges.memoryBytes)],
  ["CPU", ({ sample }) => sample.cpu === undefined ? "–" : `${number(sample.cpu)} %`],
];

const samples = new Samples();
const charts = [
  new Chart("events", "Events", "/s"),
  new Chart("deliveries", "Deliveries", "/s"),
  new Chart("commit", "Commit time", "ms"),
  new Chart("cpu", "CPU", "% of a core", 10),
];
let span = 120_000;
let pointed; // the time that the pointer is at in a chart

const state = {
  access: undefined, // "full" or "read"
  version: undefined,
  isKnown: false, // there has been an answer with this key
  offset: 0, // of the service's clock, in milliseconds
  lostSince: undefined,
  failures: 0, // in a row
};
let before; // the sample before, for differences
let wake = () => {};

const service = {
  /** The time of the service's clock. */
  now: () => Date.now() + state.offset,
  get isReadOnly() { return state.access === "read"; },
  get isLive() { return state.lostSince === undefined && !document.hidden; },
};

// The samples.

function rates(top, stats, at) {
  const sample = { time: at };
  const passed = before && (top.time - before.top.time) / 1_000;
  // Counters that have fallen are those of a new process: nothing is known of the time between.
  const isSame = before && stats.events >= before.stats.events
    && top.gauges.processorMicroseconds >= before.top.gauges.processorMicroseconds;
  if (isSame && passed > 0.1) {
    const rate = (name) => (stats[name] - before.stats[name]) / passed;
    sample.events = rate("events");
    sample.deliveries = rate("deliveries");
    sample.commit = stats.storeLastCommitMicroseconds / 1_000;
    sample.cpu = (top.gauges.processorMicroseconds - before.top.gauges.processorMicroseconds)
      / passed / 10_000;
  }
  return sample;
}

async function look() {
  if (!state.access) {
    const { version, access } = await call("/v1/service");
    state.access = access;
    if (!state.isKnown) answers.show();
    state.isKnown = true;
    // After an upgrade the page is an old one.
    if (state.version !== undefined && state.version !== version) location.reload();
    state.version = version;
    say(find("#version"), visible(version));
    find("#other-key").hidden = !hasKey();
  }
  const [top, stats] = await Promise.all([call("/v1/top?limit=10"), call("/v1/stats")]);
  const at = Date.now();
  state.offset = top.time - at;
  const sample = rates(top, stats, at);
  samples.add(sample);
  before = { top, stats };
  show({ top, stats, sample });
}

function show(seen) {
  for (const [index, [, text, isWarning]] of counters.entries()) {
    const cell = find("#counters").children[index];
    say(cell.lastChild, text(seen));
    cell.classList.toggle("warning", Boolean(isWarning?.(seen)));
  }
  title(`${number(seen.stats.accountsOnline)} online`);
  drawCharts();
  showPublishers(seen.top);
  showReaders(seen);
}

function title(text) {
  document.title = `${text} – Porchlight`;
}

function drawCharts() {
  for (const chart of charts) chart.draw(samples, span, pointed);
}

function showPublishers({ publishers, publishersSince }) {
  say(find("#publishers-since"), publishers.length ? `since ${clock(publishersSince)}` : "");
  const most = Math.max(1, ...publishers.map(({ deliveries }) => deliveries));
  fill(find("#publishers"), publishers.map(({ account, events, deliveries }) => {
    const row = element("tr", { class: "share" },
      element("th", { scope: "row" }, accountLink(account)),
      element("td", { class: "number" }, number(events)),
      element("td", { class: "number" }, number(deliveries)));
    row.style.setProperty("--share", `${deliveries / most * 100}%`);
    return row;
  }));
}

function showReaders({ top: { readers, readerCount, time }, stats: { closedTooSlow } }) {
  say(find("#readers-count"), [
    readerCount > readers.length && `${readers.length} of ${number(readerCount)}`,
    closedTooSlow && `${number(closedTooSlow)} closed since the start`,
  ].filter(Boolean).join(", "));
  fill(find("#readers"), readers.map((reader) => element("tr", {},
    element("th", { scope: "row" }, ...(reader.account === undefined ? ["an app server"]
      : [accountLink(reader.account), element("small", {}, ` ${visible(reader.device)}`)])),
    element("td", { class: "number" }, bytes(reader.bytesWaiting)),
    element("td", { class: "number" }, number(reader.behind)),
    element("td", { class: "number" }, duration(time - reader.since)),
    element("td", { class: "wide" }, visible(reader.address)))));
}

// The connection.

function tell(kind, text) {
  const live = find("#live");
  live.className = `pill ${kind}`;
  say(live, text);
  find("#retry").hidden = kind !== "lost";
  document.body.classList.toggle("old", kind === "lost");
}

function lost(error) {
  if (state.lostSince === undefined) {
    state.lostSince = Date.now();
    samples.add({ time: state.lostSince });
  }
  before = undefined;
  state.access = undefined; // another service may answer next
  title("disconnected");
  const since = `since ${clock(state.lostSince)}`;
  tell("lost", error.status > 0
    ? `no answer ${since}: ${error.message}` : `disconnected ${since}`);
}

function pause(milliseconds) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    wake = resolve;
  });
}

async function run() {
  for (;;) {
    const begun = performance.now();
    let wait = document.hidden ? EVERY_HIDDEN : EVERY;
    try {
      await look();
      state.failures = 0;
      tell("live", "live");
      if (state.lostSince !== undefined) answers.follow(0);
      state.lostSince = undefined;
      if (!document.hidden) feed.open();
    } catch (error) {
      if (!(error instanceof Problem)) reportError(error);
      if (error.status === 401) {
        await askForKey(hasKey() ? error.message : "");
        continue;
      }
      lost(error);
      wait = Math.min(WAIT_MAX, EVERY * 2 ** state.failures++) * (0.75 + Math.random() / 2);
    }
    await pause(Math.max(100, wait - (performance.now() - begun)));
  }
}

let hangUp;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hangUp);
  if (document.hidden) {
    hangUp = setTimeout(() => feed.close("not read while the page is hidden"), HANG_UP);
  } else {
    wake();
  }
});
addEventListener("online", () => wake());
find("#retry").addEventListener("click", () => wake());

// The key.

function askForKey(problem) {
  const dialog = find("#key");
  const input = find("input", dialog);
  feed.close("");
  tell("waiting", "needs a key");
  state.access = undefined;
  state.isKnown = false;
  before = undefined;
  say(find(".error", dialog), problem);
  input.value = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => resolve();
    dialog.oncancel = (event) => event.preventDefault();
    find("form", dialog).onsubmit = (event) => {
      event.preventDefault();
      const text = input.value.trim();
      if (!/^[\x21-\x7e]+$/.test(text)) {
        return say(find(".error", dialog), "A key has no spaces, and only ASCII characters.");
      }
      useKey(text);
      dialog.close();
    };
  });
}

find("#other-key").addEventListener("click", () => {
  useKey("");
  state.access = undefined;
  wake();
});

const answers = new Answers(service);
const feed = new Feed((events) => answers.changed(events));

// The page.

find("#counters").append(...counters.map(([name]) =>
  element("div", {}, element("dt", {}, name), element("dd", {}, "–"))));
find("#charts").append(...charts.map(({ node }) => node));
for (const { plot } of charts) {
  plot.addEventListener("pointermove", ({ clientX }) => {
    const { left, width } = plot.getBoundingClientRect();
    const end = samples.last?.time ?? 0;
    pointed = end - span * (1 - (clientX - left) / width);
    drawCharts();
  });
  plot.addEventListener("pointerleave", () => {
    pointed = undefined;
    drawCharts();
  });
}
find("#spans").addEventListener("click", ({ target }) => {
  if (!target.value) return;
  span = target.value * 1_000;
  for (const button of find("#spans").children) {
    button.setAttribute("aria-pressed", String(button === target));
  }
  drawCharts();
});
drawCharts();
run();
