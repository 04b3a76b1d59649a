/** The author's images, as thumbnails of their nodes. */
import { describe, expect, it } from "vitest";
import { draw } from "../../src/draw/draw.js";
import { flatPainter, themeColours } from "../../src/flat/flat_painter.js";
import { fork, wrapped } from "../fixtures.js";
import { DOT, pictured, shown } from "../pictured.js";

describe("images", () => {
  it("are thumbnails with their text, on pages and in flat pictures", () => {
    const made = shown(pictured(fork, ["input:x"]), null);
    expect(draw(made)).toContain(`data-image="1"><title>Image 1</title>`);
    expect(draw(made)).toContain(`<image href="${DOT}" `);
    const painter = flatPainter(themeColours("dark"), { typeface: null, outlines: false });
    expect(painter.image(DOT, `x="1"`)).toBe(`<image xlink:href="${DOT}" x="1"/>`);
  });

  it("of what is inside are counted by a closed box, and shown by an open one", () => {
    const graph = pictured(wrapped, ["outer.inner/linear", "outer.inner/relu"]);
    const closed = draw(shown(graph, 0));
    expect(closed).not.toContain("<image");
    expect(/class="mg-note mg-more".*?>2<\/text>/.test(closed)).toBe(true);
    expect(draw(shown(graph, 99)).match(/<image/g)).toHaveLength(2);
    expect(draw(shown(graph, 99))).not.toContain("mg-more");
  });

  it("beyond the first one of a node are counted, and opened with it", () => {
    const svg = draw(shown(pictured(fork, ["input:x", "input:x", "input:x"]), null));
    expect(svg).toContain(`data-image="1 2 3"`);
    expect(svg.match(/<image/g)).toHaveLength(1);
    expect(/class="mg-note mg-more".*?>2<\/text>/.test(svg)).toBe(true);
  });
});
