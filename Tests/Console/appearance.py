"""What can be computed of how a page looks: overflow, contrast, names of controls, tables."""

# What a page at this width must not have. Returns texts, one for each fault.
FAULTS = r"""() => {
  const faults = [];
  const say = (node, text) => faults.push(
    `${node.tagName.toLowerCase()}${node.id ? "#" + node.id : ""}.${node.className} ` +
    `“${node.textContent.trim().slice(0, 40)}”: ${text}`);

  // What an element clips or scrolls is not seen outside of it.
  const isInside = (node) => node !== document.body
    && (getComputedStyle(node).overflowX !== "visible" || isInside(node.parentElement));

  // Nothing is wider than the window.
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) faults.push(`the page is ${scrollWidth} wide, of ${innerWidth}`);
  for (const node of document.querySelectorAll("body *")) {
    const box = node.getBoundingClientRect();
    const isCut = node.closest(".aside, svg") || isInside(node.parentElement);
    if (!isCut && box.width && (box.right > innerWidth + 1 || box.left < -1)) {
      say(node, `from ${box.left} to ${box.right}`);
    }
  }
  // A panel has its content inside.
  for (const panel of document.querySelectorAll(".panel, #counters > div, dialog[open]")) {
    const style = getComputedStyle(panel);
    if (panel.scrollWidth > panel.clientWidth + 1 && style.overflowX === "visible") {
      say(panel, `its content is ${panel.scrollWidth} wide, of ${panel.clientWidth}`);
    }
  }

  // Colours as the browser computes them, whatever notation they have.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], below) =>
    [r, g, b].map((value, index) => value * a + below[index] * (1 - a));
  const luminance = (colour) => {
    const [r, g, b] = colour.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  // A gradient counts with its first colour, which is the one that differs from the ground.
  const ground = (node) => {
    if (!node) return rgba(getComputedStyle(document.documentElement).backgroundColor).slice(0, 3);
    const { backgroundColor, backgroundImage } = getComputedStyle(node);
    const own = over(rgba(backgroundColor), ground(node.parentElement));
    const first = /^linear-gradient\([^,]*, ((?:color|rgba?|oklab)\([^)]*\))/.exec(backgroundImage);
    if (backgroundImage !== "none" && !first) say(node, `what is ${backgroundImage}?`);
    return first ? over(rgba(first[1]), own) : own;
  };
  const contrast = (node, style) => {
    const below = ground(node);
    const [one, other] = [luminance(over(rgba(style.color), below)), luminance(below)];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  };
  let measured = 0;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !node.checkVisibility({ visibilityProperty: true })) continue;
    if (node.closest("script, svg, .aside")) continue;
    measured += 1;
    const style = getComputedStyle(node);
    for (let at = node; at; at = at.parentElement) {
      if (getComputedStyle(at).opacity !== "1") say(at, "opacity changes its contrast");
    }
    const found = contrast(node, style);
    if (found < 4.5) say(node, `contrast ${found.toFixed(2)}`);
  }
  if (measured < 20) faults.push(`only ${measured} texts were measured`);
  for (const input of document.querySelectorAll("input")) {
    for (const part of [null, "::placeholder"]) {
      const found = contrast(input, getComputedStyle(input, part));
      if (found < 4.5) say(input, `contrast ${found.toFixed(2)}`);
    }
  }

  // What it says to those who do not see it.
  for (const [selector, count] of [["h1", 1], ["main", 1], ["header", 1], ["[role=status]", 1]]) {
    const found = document.querySelectorAll(selector).length;
    if (found !== count) faults.push(`${found} ${selector}`);
  }
  for (const node of document.querySelectorAll("th")) if (!node.scope) say(node, "no scope");
  for (const node of document.querySelectorAll("table, section, article, dialog, [role=region]")) {
    if (!node.ariaLabel && !document.getElementById(node.getAttribute("aria-labelledby"))
      && !node.querySelector(":scope > h3") && !node.closest(".story")) say(node, "no name");
  }
  for (const node of document.querySelectorAll("a, button, input")) {
    if (!(node.ariaLabel || node.textContent.trim() || node.labels?.length)) say(node, "no name");
  }
  for (const node of document.querySelectorAll(".dot, svg")) {
    if (!node.ariaLabel || node.getAttribute("role") !== "img") say(node, "no name");
  }
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`twice: #${id}`);
  return faults;
}"""


def check(page):
    faults = page.evaluate(FAULTS)
    assert not faults, "\n    ".join(["at %s:" % page.viewport_size, *faults[:10]])
