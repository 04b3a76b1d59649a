/** Labels of wires: dimmed where the shape stays, emphasised where it changes. */
import { expect, it } from "vitest";
import { draw } from "../../src/draw/draw.js";
import { index } from "../../src/graph/indexing.js";
import { layout } from "../../src/layout/layout.js";
import { view } from "../../src/view/view.js";
import { sketch } from "../sketch.js";

it("marks labels by whether the shape stays or changes", () => {
  const graph = sketch("x > conv > relu > add > y\nconv > add");
  for (const op of ["conv", "relu", "add"]) graph.tensors[`/${op}:0`] = { shape: [1, 16], dtype: "float32" };
  const shown = view(index(graph), { expanded: [], unrolled: [], direction: "TB" });
  const marks = shown.root.wires.map(({ source, shape }) => [source, shape]);
  expect(marks).toEqual([
    ["input:x:0", undefined],
    ["/conv:0", "new-shape"],
    ["/relu:0", "same-shape"],
    ["/conv:0", "new-shape"],
    ["/add:0", "same-shape"],
  ]);
  const classes = [...draw(layout(shown, null)).matchAll(/class="mg-label ?([\w-]*)"/g)].map(([, mark]) => mark);
  expect(classes.sort()).toEqual(["", "mg-new-shape", "mg-same-shape", "mg-same-shape"]);
});
