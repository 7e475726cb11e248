import { describe, expect, test } from "vitest";
import { blocksOf, renderHtml } from "./markdown-engine.ts";
import { readSlash, slashMenu, WEB_COMMANDS } from "./slash.ts";
import { foldLines, shortInput } from "./tool-text.ts";

describe("tool text", () => {
  test.each([
    [{ command: "ls\n  -la" }, "ls -la"],
    [{ path: "/a", content: "x" }, "/a"],
    [{ urls: ["a", "b"] }, "a b"],
    [{}, ""],
    [null, ""],
    ["not json", "not json"],
    [{ a: 1 }, '{"a":1}'],
  ])("%j in one line: %s", (input, line) => {
    expect(shortInput(input)).toBe(line);
  });

  test("long arguments are cut", () => {
    expect(shortInput({ command: "x".repeat(500) })).toHaveLength(160);
  });

  test("the last 200 of 250 lines are shown", () => {
    const text = Array.from({ length: 250 }, (_, line) => `l${line}`).join("\n");
    const folded = foldLines(`${text}\n`, 200);
    expect(folded.hidden).toBe(50);
    expect(folded.text.split("\n")[0]).toBe("l50");
    expect(foldLines("a\nb\n", 200)).toEqual({ text: "a\nb", hidden: 0 });
  });
});

describe("slash commands", () => {
  test.each([
    ["hello", false, { kind: "text" }],
    ["/stop", true, { kind: "run", name: "stop", args: "" }],
    ["/sto", true, { kind: "run", name: "stop", args: "" }],
    ["/title A B", false, { kind: "run", name: "title", args: "A B" }],
    ["/title", false, { kind: "args", name: "title", args: "TITLE" }],
    ["/undo", true, { kind: "busy", name: "undo" }],
    ["/nosuch", false, { kind: "unknown", word: "nosuch" }],
    ["/ret x", false, { kind: "run", name: "retry", args: "x" }],
  ])("%s (busy: %s)", (text, busy, verdict) => {
    expect(readSlash(text, busy)).toEqual(verdict);
  });

  test("the menu narrows while a name is typed and closes with a blank", () => {
    expect(slashMenu("/")).toHaveLength(WEB_COMMANDS.length);
    expect(slashMenu("/com")?.map((command) => command.name)).toEqual(["compress"]);
    expect(slashMenu("/compress now")).toBeNull();
    expect(slashMenu("a /")).toBeNull();
  });
});

describe("Markdown", () => {
  test.each([
    ["raw HTML is text", "<img src=x onerror=alert(1)>", "&lt;img", "<img"],
    ["a script is text", "a <script>alert(1)</script>", "&lt;script&gt;", "<script"],
    [
      "a remote image is a link",
      "![cat](https://x.test/c.png)",
      'href="https://x.test/c.png"',
      "<img",
    ],
    ["a javascript link is its label", "[go](javascript:alert(1))", "go", "href"],
    ["a data link is its label", "[go](data:text/html,x)", "go", "href"],
    ["an attribute cannot be broken out of", '[x](https://a.test/"onx=1)', "href=", '"onx'],
    ["links open outside", "[a](https://a.test)", 'rel="noopener noreferrer"', "javascript"],
  ])("%s", (_name, text, has, lacks) => {
    const html = renderHtml(text);
    expect(html).toContain(has);
    expect(html).not.toContain(lacks);
  });

  test("blocks: finished ones stay equal while the text grows; code stands alone", () => {
    const first = blocksOf("# A\n\nOne\n\n```js\nlet a");
    const later = blocksOf("# A\n\nOne\n\n```js\nlet a = 1;\n```\n\nTwo");
    expect(later.slice(0, 2)).toEqual(first.slice(0, 2));
    expect(first[2]).toEqual({ kind: "code", language: "js", code: "let a" });
    expect(later[2]).toEqual({ kind: "code", language: "js", code: "let a = 1;" });
    expect(later).toHaveLength(4);
  });

  test("a link definition further down is found", () => {
    const [block] = blocksOf("See [docs].\n\n[docs]: https://d.test\n");
    expect(block?.kind === "html" && renderHtml(block.raw)).toContain('href="https://d.test"');
  });
});
