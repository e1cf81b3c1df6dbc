import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { Stage } from "./stage.js";

const folder = new URL("../../scenarios/", import.meta.url);

for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
  const scenario = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
  test(`${file}: ${scenario.about}`, { timeout: 10_000 }, () =>
    new Stage(scenario).play(scenario.steps));
}
