/** The option that edges are as thick as their tensors are large. */
import { expect, it } from "vitest";
import { draw } from "../../src/draw/draw.js";
import { index } from "../../src/graph/indexing.js";
import { layout } from "../../src/layout/layout.js";
import { view } from "../../src/view/view.js";
import { firstState } from "../first_state.js";
import { sketch } from "../sketch.js";

const graph = sketch("x > conv > relu > pool > linear > y");
const sizes: Record<string, [number[], string]> = {
  "input:x:0": [[1, 4096], "float32"],
  "/conv:0": [[64, 4096], "bfloat16"],
  "/relu:0": [[64, 4096], "float32"],
  "/pool:0": [[64], "float32"],
  "/linear:0": [[4], "bool"],
};
for (const [tensor, [shape, dtype]] of Object.entries(sizes)) graph.tensors[tensor] = { shape, dtype };

function classesOf(options: { edge_width?: "bytes" }): string[] {
  const traced = index(graph);
  const picture = draw(layout(view(traced, firstState(traced, options)), null));
  return [...picture.matchAll(/<path class="mg-edge ?([^"]*)" [^>]*data-tensor="([^"]*)"/g)].map(
    ([, classes, tensor]) => `${tensor} ${classes}`,
  );
}

it("draws edges of large tensors thicker", () => {
  expect(classesOf({ edge_width: "bytes" })).toEqual([
    "input:x:0 mg-width-3",
    "/conv:0 mg-width-4",
    "/relu:0 mg-width-4",
    "/pool:0 mg-width-2",
    "/linear:0 ",
  ]);
});

it("is off by default", () => {
  expect(classesOf({}).every((edge) => edge.endsWith(" "))).toBe(true);
});
