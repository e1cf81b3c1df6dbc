// Charts of the last minutes: one polyline for each stretch without a gap.

import { clock, element, number, say } from "./page.js";

const WIDTH = 600;
const HEIGHT = 100;
const MEMORY = 600_000; // milliseconds
/** Two samples further apart than this are not joined: nothing is known of the time between. */
const GAP = 15_000;

/** What was measured in the last ten minutes. A sample without values is a gap. */
export class Samples {
  #list = [];

  add(sample) {
    this.#list.push(sample);
    while (this.#list.length > 1_200 || this.#list[0].time < sample.time - MEMORY - GAP) {
      this.#list.shift();
    }
  }

  get last() { return this.#list.at(-1); }

  /** The values of one name in stretches of `[time, value]`. */
  stretches(name, since) {
    const found = [];
    let before = -Infinity;
    for (const sample of this.#list) {
      const value = sample[name];
      if (value === undefined || sample.time < since) {
        if (value === undefined) before = -Infinity;
        continue;
      }
      if (sample.time - before > GAP) found.push([]);
      found.at(-1).push([sample.time, value]);
      before = sample.time;
    }
    return found;
  }

  at(time) {
    const [nearest] = this.#list.map((sample) => [Math.abs(sample.time - time), sample])
      .sort(([one], [other]) => one - other);
    return nearest?.[0] <= GAP ? nearest[1] : undefined;
  }
}

/** A round number that is not less. */
function rounded(value, least) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(value, least)));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * unit).find((step) => step >= value);
}

const shape = (tag, attributes) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};

export class Chart {
  #name; #title; #unit; #least;
  #now = element("b"); #when = element("span"); #top = element("span", { class: "top" });
  #begin = element("span");
  #svg = shape("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img",
  });
  #area = shape("path", { class: "area" });
  #cursor = shape("line", { class: "cursor", y1: 0, y2: HEIGHT, visibility: "hidden" });
  #lines = shape("g", { class: "line" });

  /** `least`: the least that the top of the chart stands for. */
  constructor(name, title, unit, least = 1) {
    this.#name = name;
    this.#title = title;
    this.#unit = unit;
    this.#least = least;
    for (const y of [0.5, HEIGHT / 2, HEIGHT - 0.5]) {
      this.#svg.append(shape("line", { class: "grid", x1: 0, x2: WIDTH, y1: y, y2: y }));
    }
    this.#svg.append(this.#area, this.#lines, this.#cursor);
    this.plot = element("div", { class: "plot" }, this.#top);
    this.plot.prepend(this.#svg);
    this.node = element("figure", { class: `chart panel ${name}` },
      element("figcaption", {}, element("span", {}, title),
        element("span", { class: "value" }, this.#now, ` ${unit}`)),
      this.plot,
      element("div", { class: "axis", "aria-hidden": true },
        this.#begin, this.#when, element("span", {}, "now")));
  }

  /** `pointed`: the time that the pointer is at, in any of the charts. */
  draw(samples, span, pointed) {
    const end = samples.last?.time ?? 0;
    const begin = end - span;
    const stretches = samples.stretches(this.#name, begin);
    const peak = Math.max(0, ...stretches.flat().map(([, value]) => value));
    const top = rounded(peak, this.#least);
    const x = (time) => ((time - begin) / span * WIDTH).toFixed(1);
    const y = (value) => (HEIGHT - 1 - value / top * (HEIGHT - 4)).toFixed(1);
    const drawn = stretches.map((points) =>
      points.map(([time, value]) => `${x(time)},${y(value)}`));
    this.#lines.replaceChildren(...drawn.map((points) =>
      // The last point twice, so that one alone is a dot.
      shape("polyline", { points: [...points, points.at(-1)].join(" ") })));
    this.#area.setAttribute("d", stretches.map((points, index) =>
      `M${x(points[0][0])},${HEIGHT}L${drawn[index].join("L")}L${x(points.at(-1)[0])},${HEIGHT}Z`)
      .join(""));
    this.#tell(samples, pointed, peak, top, span, x);
  }

  #tell(samples, pointed, peak, top, span, x) {
    const shown = pointed === undefined ? samples.last : samples.at(pointed);
    const value = shown?.[this.#name];
    say(this.#now, number(value));
    say(this.#when, pointed === undefined
      ? `peak ${number(peak)}` : shown ? `at ${clock(shown.time)}` : "not known");
    say(this.#top, number(top));
    say(this.#begin, `−${span / 60_000} min`);
    const last = number(samples.last?.[this.#name]);
    this.#svg.setAttribute("aria-label", `${this.#title}, ${this.#unit}: now ${last}, `
      + `at most ${number(peak)} in ${span / 60_000} minutes`);
    this.#cursor.setAttribute("visibility", pointed !== undefined && shown ? "visible" : "hidden");
    if (shown) {
      this.#cursor.setAttribute("x1", x(shown.time));
      this.#cursor.setAttribute("x2", x(shown.time));
    }
  }
}
