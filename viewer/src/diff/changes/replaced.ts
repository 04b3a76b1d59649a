/** Modules that replace each other although nothing inside them is paired: a ReLU, and the GELU in its place. */
import type { GraphData } from "../../graph/graph.js";

/** The ops inside such modules: op → its module in the later graph. */
export interface Replaced {
  before: ReadonlyMap<string, string>;
  after: ReadonlyMap<string, string>;
}

/** @param isKnown whether an op of one of the graphs has a counterpart, or is marked as gone or added */
export function replacedOps(
  [before, after]: readonly [GraphData, GraphData],
  pairs: ReadonlyMap<string, string>,
  isKnown: readonly [then: (id: string) => boolean, now: (id: string) => boolean],
): Replaced {
  const paired = new Set(pairs.values());
  const then = unknownInside(before, isKnown[0], (id) => (id === "" ? undefined : pairs.get(id)));
  const now = unknownInside(after, isKnown[1], (id) => (id !== "" && paired.has(id) ? id : undefined));
  const [here, there] = [new Set(then.values()), new Set(now.values())];
  const inBoth = (ops: Map<string, string>) =>
    new Map([...ops].filter(([, module]) => here.has(module) && there.has(module)));
  return { before: inBoth(then), after: inBoth(now) };
}

/** The ops inside modules without a known op: op → name of the nearest module with a name. */
function unknownInside(
  graph: GraphData,
  isKnown: (id: string) => boolean,
  nameOf: (module: string) => string | undefined,
): Map<string, string> {
  const parents = new Map(Object.entries(graph.hierarchy));
  const entered = new Set<string>();
  const found = new Map<string, string>();
  for (const { id, kind } of graph.nodes) {
    if (kind === "module") continue;
    const known = isKnown(id);
    for (let at = parents.get(id) ?? null; at !== null; at = parents.get(at) ?? null) {
      const name = nameOf(at);
      if (name === undefined) continue;
      if (known) entered.add(name);
      else {
        found.set(id, name);
        break;
      }
    }
  }
  return new Map([...found].filter(([, name]) => !entered.has(name)));
}
