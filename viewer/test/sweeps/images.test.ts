/** The author's images: every box and title has room for its thumbnail, in any picture. */
import { describe, expect, it } from "vitest";
import type { GraphData } from "../../src/graph/graph.js";
import { thumbSize } from "../../src/layout/coord/metrics.js";
import type { Placed } from "../../src/layout/layout.js";
import { all } from "../fixtures.js";
import { pictured, shown } from "../pictured.js";
import { NO_FAULTS, validate } from "../validate.js";

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
});
