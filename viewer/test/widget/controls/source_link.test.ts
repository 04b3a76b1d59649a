import { describe, expect, it } from "vitest";
import { sourceUrl } from "../../../src/widget/controls/source_link.js";

const TEMPLATE = "https://example.org/blob/main/{path}#L{line}";

describe("sourceUrl", () => {
  it("fills in path and line", () => {
    expect(sourceUrl(TEMPLATE, "src/pkg/model.py:12")).toBe("https://example.org/blob/main/src/pkg/model.py#L12");
  });

  it("uses the first template for the path's package", () => {
    const templates = "https://a.org/{path:one two}#{line} https://b.org/{path:three}#{line} https://c.org/{path}";
    expect(sourceUrl(templates, "two/model.py:1")).toBe("https://a.org/two/model.py#1");
    expect(sourceUrl(templates, "three/model.py:1")).toBe("https://b.org/three/model.py#1");
    expect(sourceUrl(templates, "four/model.py:1")).toBe("https://c.org/four/model.py");
    expect(sourceUrl("https://a.org/{path:one}", "four/model.py:1")).toBeUndefined();
  });

  it("rejects paths that lead out of the repository", () => {
    for (const path of ["../../evil/x.py", "a/../../x.py", "a/./x.py", "//evil.org/x.py", "/etc/passwd", ".."])
      expect(sourceUrl(TEMPLATE, `${path}:1`), path).toBeUndefined();
    expect(sourceUrl(TEMPLATE, "..\\..\\x.py:1")).toBe("https://example.org/blob/main/..%5C..%5Cx.py#L1");
    expect(sourceUrl(TEMPLATE, "%2e%2e/x.py:1")).toBe("https://example.org/blob/main/%252e%252e/x.py#L1");
  });

  it("encodes any character of a path", () => {
    expect(sourceUrl(TEMPLATE, "half \ud800.py:1")).toBe("https://example.org/blob/main/half%20%EF%BF%BD.py#L1");
    expect(sourceUrl(TEMPLATE, "$& {line}?#.py:1")).toBe(
      "https://example.org/blob/main/%24%26%20%7Bline%7D%3F%23.py#L1",
    );
    expect(sourceUrl(TEMPLATE, "new\nline.py:1")).toBe("https://example.org/blob/main/new%0Aline.py#L1");
    expect(sourceUrl(TEMPLATE, "no line")).toBeUndefined();
  });

  it("returns http and https URLs only", () => {
    for (const template of [
      "javascript:alert(1)//{path}{line}",
      "data:text/html,{path}{line}",
      "{path}",
      "",
      "https:{path}",
    ])
      expect(sourceUrl(template, "javascript/alert.py:1"), template).toBeUndefined();
  });
});
