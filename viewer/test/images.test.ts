/** The author's images: every box and title has room for its thumbnail, in any picture. */
import { describe, expect, it } from "vitest";
import { draw } from "../src/draw/draw.js";
import { flatPainter, themeColours } from "../src/flat/painter.js";
import type { GraphData } from "../src/graph/graph.js";
import { index } from "../src/graph/indexing.js";
import { annotated } from "../src/graph/overlay.js";
import { layout, type Placed } from "../src/layout/layout.js";
import { thumbSize } from "../src/layout/metrics.js";
import { view } from "../src/view/view.js";
import { firstState } from "./first_state.js";
import { all, fork, wrapped } from "./fixtures.js";
import { strippedInstance } from "./stripped_viz.js";
import { NO_FAULTS, validate } from "./validate.js";

const viz = await strippedInstance();
const DOT = "data:image/png;base64,iVBORw0KGgo=";
/** Square, wide, tall and tiny. */
const SIZES = [
  [64, 64],
  [800, 40],
  [30, 900],
  [2, 2],
] as const;

function pictured(graph: GraphData, ids: readonly string[]): GraphData {
  const images = ids.map((id, i) => {
    const [width, height] = SIZES[i % SIZES.length] ?? [1, 1];
    return { source: DOT, alt: `Image ${i + 1}`, width, height, nodes: [id] };
  });
  return annotated(graph, { format: "modeldiagrams-overlay", version: "1.0", graph: "", images });
}

function shown(graph: GraphData, depth: number | null, direction: "TB" | "LR" = "TB") {
  const traced = index(graph);
  return layout(view(traced, firstState(traced, { depth, direction })), viz);
}

/** Every thumbnail with the room that its box or title has below the words. */
function rooms({ frame, geometry, inner }: Placed): boolean[] {
  return frame.items.flatMap((item, i) => {
    const [box, open] = [geometry.boxes[i], inner[i]];
    const { width, height } = thumbSize(item);
    const around = open?.geometry.title ?? box;
    const fits = around !== undefined && around !== null && around.width >= width && around.height >= height + 16;
    return [...(item.thumb === undefined ? [] : [fits]), ...(open ? rooms(open) : [])];
  });
}

describe("images", () => {
  it.each(Object.keys(all))("have room at every node of %s", (name) => {
    const graph = all[name] as GraphData;
    const said = pictured(graph, [...graph.nodes.map(({ id }) => id), ...Object.keys(graph.functions ?? {})]);
    for (const direction of ["TB", "LR"] as const)
      for (const depth of [null, 99]) {
        const made = shown(said, depth, direction);
        expect(validate(made), `${direction} ${depth}`).toMatchObject(NO_FAULTS);
        expect(rooms(made.root).length).toBeGreaterThan(0);
        expect(rooms(made.root)).not.toContain(false);
      }
  });

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
