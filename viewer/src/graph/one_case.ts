/** The graph of one of several cases, with the ids of all. */
import { memoInObject } from "../shared/memo.js";
import type { Edge, Graph, GraphIndex } from "./graph.js";
import { indexGraph } from "./indexing.js";

/** @param position in `Graph.cases` */
export const caseIndex = memoInObject((index: GraphIndex, position: number) =>
  indexGraph(projected(index.graph, position)),
);

function projected(graph: Graph, position: number): Graph {
  const own = graph.cases?.[position];
  if (own === undefined) return graph;
  const runs = ({ cases }: Pick<Edge, "cases">) => !cases?.length || cases.includes(position);
  const nodes = graph.nodes.filter(runs).map((node) => ({ ...node, ...own.fields?.[node.id] }));
  const tensors = new Map(
    [...graph.tensors].map(([id, { variants: _, ...spec }]) => [id, own.tensors?.[id] ?? spec] as const),
  );
  const parameters = new Map(graph.parameters);
  for (const [name, spec] of Object.entries(own.parameters ?? {})) {
    if (spec === null) parameters.delete(name);
    else parameters.set(name, spec);
  }
  const { model, status, assumptions = [] } = own;
  const ways = (graph.ways ?? []).map((way) => ({
    ...way,
    sides: way.sides.map(({ cases = [], ...side }) => ({ ...side, taken: side.taken && runs({ cases }) })),
  }));
  return {
    ...{ ...graph, nodes, tensors, parameters, model: model as Graph["model"], status, assumptions, ways, cases: [] },
    adjacency: new Map([...graph.adjacency].map(([from, edges]) => [from, edges.filter(runs)])),
  };
}
