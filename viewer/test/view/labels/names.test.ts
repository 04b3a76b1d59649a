/** Python allows any name for a module, a weight or a function, also those of properties that JavaScript objects have. */
import { expect, it } from "vitest";
import { draw } from "../../../src/draw/draw.js";
import type { GraphData } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { shortName } from "../../../src/graph/names.js";
import { layout } from "../../../src/layout/layout.js";
import { detailsOf } from "../../../src/session/details.js";
import { SearchIndex } from "../../../src/session/search_index.js";
import { Session } from "../../../src/session/session.js";
import { outlineRows } from "../../../src/view/outline_rows.js";
import type { State } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import { firstState } from "../../first_state.js";
import { sketch } from "../../sketch.js";

const NAMES = Object.getOwnPropertyNames(Object.prototype);

/** A model in which modules, ops, weights, inputs and outputs all have one name. */
function named(name: string): GraphData {
  const graph = sketch("NAME > NAME/op > NAME.NAME/NAME > NAME.NAME/relu > NAME'2 > done\nleaf > NAME.NAME/NAME", {
    NAME: "NAME",
    "NAME.NAME": "NAME",
  });
  graph.parameters = { NAME: { shape: [8], dtype: "float32", owner: "NAME", kind: "parameter", trainable: true } };
  for (const node of graph.nodes) if (node.kind === "op") Object.assign(node, { weights: { NAME: "NAME" } });
  return JSON.parse(JSON.stringify(graph).replaceAll("NAME", name));
}

/** Everything shown of the model with this name in a state, without positions. */
function shown(name: string, state: State): string[] {
  const graph = index(named(name));
  const session = new Session({ graph: named(name), state });
  const details = [...graph.nodes.keys(), ""].map((id) => detailsOf(session, id));
  const svg = draw(layout(view(graph, state), null)).replace(/ (x|y|width|height|viewBox|d|transform)="[^"]*"/g, "");
  return [...svg.split("<"), ...details, new SearchIndex(session.grouped).search(name), outlineRows(graph)].map(
    (part) => JSON.stringify(part).replaceAll(name, "NAME").replaceAll(shortName(name), "SHORT"),
  );
}

it.each(NAMES)("%s is a name like any other", (name) => {
  const states = (called: string): string[][] => {
    const first = firstState(index(named(called)));
    const expanded = [called, `${called}.${called}`];
    return [first, { ...first, plumbing: true }, { ...first, expanded }].map((state) => shown(called, state));
  };
  expect(states(name)).toEqual(states(name.replace(/[a-z]/gi, "z")));
});
