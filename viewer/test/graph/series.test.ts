/** Series: inputs of one argument as one node. */
import { expect, it } from "vitest";
import { index } from "../../src/graph/indexing.js";
import { shownIndex } from "../../src/view/grouping/shown_index.js";
import { sketch } from "../sketch.js";

const USER = sketch("user.id > a\nuser.country > b\nuser.age > c\na > add\nb > add\nc > add > y");

function inputs(dtypes: Record<string, string>): string[] {
  const tensors = Object.fromEntries(
    Object.entries(USER.tensors).map(([id, spec]) => [id, { ...spec, dtype: dtypes[id] ?? spec.dtype }]),
  );
  const { graph } = shownIndex(index({ ...USER, tensors }), {});
  return graph.nodes.filter(({ kind }) => kind === "input").map((node) => ("name" in node ? (node.name ?? "") : ""));
}

it("merges equal inputs", () => {
  expect(inputs({})).toEqual(["user"]);
});

it("keeps inputs of different dtypes: one label would be wrong for the others", () => {
  expect(inputs({ "input:user.age:0": "int64" })).toEqual(["user.id", "user.country", "user.age"]);
});
