import { expect, it } from "vitest";
import { isOurs } from "../../src/element/trusted.js";

const PAGE = "https://docs.example/en/page.html";
const HOME = "https://files.example/docs/modeldiagrams/model-graph.js";

it.each(["https://docs.example/other/x.js", "https://files.example/docs/modeldiagrams/pkg.Model.js"])(
  "takes scripts from the page's site and from beside the widget: %s",
  (url) => {
    expect(isOurs(url, PAGE, HOME)).toBe(true);
  },
);

it.each([
  "https://elsewhere.example/docs/modeldiagrams/x.js",
  "https://files.example/docs/other/x.js",
  "https://files.example/docs/modeldiagrams/../x.js",
  "https://docs.example.evil.example/x.js",
  "http://docs.example/x.js",
  "data:text/javascript,alert(1)",
  "javascript:alert(1)",
  "blob:https://docs.example/1",
])("refuses all others: %s", (url) => {
  expect(isOurs(url, PAGE, HOME)).toBe(false);
});

it("takes files for pages from disk, and nothing else", () => {
  expect(isOurs("file:///docs/x.js", "file:///docs/page.html", undefined)).toBe(true);
  expect(isOurs("data:text/javascript,1", "file:///docs/page.html", undefined)).toBe(false);
  expect(isOurs("https://elsewhere.example/x.js", "file:///docs/page.html", "")).toBe(false);
});
