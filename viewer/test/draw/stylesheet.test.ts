import { expect, it } from "vitest";
import { HUES } from "../../src/draw/palette.js";
import { pictureStylesheet } from "../../src/draw/stylesheet.js";

const css = pictureStylesheet();

it("lets a site override every hue", () => {
  for (const [hue, colour] of Object.entries(HUES)) expect(css).toContain(`var(--mg-hue-${hue}, ${colour})`);
});

it("sets text and background colours only in standalone pictures", () => {
  expect(css).toContain(".mg-svg:root { color: #1f2328; background: #ffffff }");
  expect(css).toContain("@media (prefers-color-scheme: dark) { .mg-svg:root { color: #dfe4ea; background: #15171a } }");
});

it("styles the direct children of a group, not those of nested modules", () => {
  expect(css).toContain(".mg-svg .mg-error > .mg-box, .mg-svg .mg-error > .mg-panel { stroke: var(--mg-error");
});
