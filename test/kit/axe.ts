// axe-core in a page: WCAG 2.2 AA and best practice.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { PROJECT } from "./cli.ts";

const SOURCE = readFileSync(join(PROJECT, "node_modules", "axe-core", "axe.min.js"), "utf8");

/** Each violation as one line: the rule, and the element it was found at. */
export async function axeViolations(page: Page): Promise<string[]> {
  await page.evaluate(SOURCE);
  return page.evaluate<string[]>(`axe
    .run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => id + ": " + node.html.slice(0, 160))))`);
}
