import { describe, expect, test } from "vitest";
import { highlight } from "./highlight.ts";

describe("highlight", () => {
  test.for([
    ["ts", "const x = 1;"],
    ["sh", 'echo "$HOME"'],
    ["py", "def f(): pass"],
    ["yaml", "a: 1"],
    ["html", "<b>x</b>"],
  ] as const)("colours %s", ([language, code]) => {
    expect(highlight(code, language)).toContain('<span class="hljs-');
  });

  test.for(["", "nosuch", "constructor", "__proto__"])("leaves %j plain", (language) => {
    expect(highlight("x", language)).toBeNull();
  });

  test("what looks like HTML in the code stays text", () => {
    const html = highlight('x = "<img src=x onerror=alert(1)>"</code><script>', "python") ?? "";
    expect(html).not.toMatch(/<(?!\/?span\b)/);
    expect(html).toContain("&lt;script&gt;");
  });

  test("very long code stays plain", () => {
    expect(highlight("x".repeat(50_001), "json")).toBeNull();
  });
});
