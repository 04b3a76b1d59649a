import { expect, it } from "vitest";
import { isAllowed } from "../../../src/widget/loading/trusted_types.js";

const PAGE = "https://docs.example/en/page.html";
const HOME = "https://files.example/docs/modeldiagrams/model-graph.js";

it.each(["https://docs.example/other/x.js", "https://files.example/docs/modeldiagrams/pkg.Model.js"])(
  "allows scripts from the page's origin and from the widget's folder: %s",
  (url) => {
    expect(isAllowed(url, PAGE, HOME)).toBe(true);
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
])("refuses other scripts: %s", (url) => {
  expect(isAllowed(url, PAGE, HOME)).toBe(false);
});

it("allows only files on pages from disk", () => {
  expect(isAllowed("file:///docs/x.js", "file:///docs/page.html", undefined)).toBe(true);
  expect(isAllowed("data:text/javascript,1", "file:///docs/page.html", undefined)).toBe(false);
  expect(isAllowed("https://elsewhere.example/x.js", "file:///docs/page.html", "")).toBe(false);
});
