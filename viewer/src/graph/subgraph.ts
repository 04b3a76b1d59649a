/** The inside of a module or function call as a graph, with the tensors across its border as inputs and outputs. */
import { append } from "./append.js";
import {
  ancestors,
  type Edge,
  type FunctionNode,
  type Graph,
  type GraphIndex,
  type GraphNode,
  type ModuleNode,
  ROOT,
} from "./graph.js";

/** The graph of what a module or function call contains; ids stay as in the whole graph. */
export function subgraph(index: GraphIndex, id: string): Graph {
  const { graph } = index;
  const container = index.nodes.get(id) as ModuleNode | FunctionNode;
  const inside = new Set(graph.nodes.filter((node) => ancestors(index, node.id).includes(id)).map((node) => node.id));
  const border = new Border(container);
  const adjacency = new Map<string, Edge[]>();
  const add = (from: string, edge: Edge) => append(adjacency, from, edge);
  for (const node of graph.nodes) {
    for (const edge of graph.adjacency.get(node.id) ?? []) {
      const [from, to] = [inside.has(node.id), inside.has(edge.to)];
      if (from && to) add(node.id, edge);
      else if (to) add(border.input(edge.tensor), edge);
      else if (from) border.output(edge.tensor, node.id, edge, add);
    }
  }
  const isStep = (node: GraphNode) => inside.has(node.id) && node.kind !== "function";
  const nodes = [...border.inputs.values(), ...graph.nodes.filter(isStep), ...border.outputs.values()];
  const module = moduleAround(index, id);
  const hierarchy = new Map(
    nodes.map((node) => {
      const parent = inside.has(node.id) ? moduleAround(index, index.parent.get(node.id) ?? ROOT) : module;
      return [node.id, parent === module ? null : parent];
    }),
  );
  const around = index.nodes.get(module);
  const path = around?.kind === "module" ? around.path : "";
  return {
    ...graph,
    nodes: nodes.map((node) => below(path, node)),
    adjacency,
    hierarchy,
    functions: within(index, id),
  };
}

/** The function calls that don't contain a container. */
function within(index: GraphIndex, id: string): NonNullable<Graph["functions"]> {
  const around = [id, ...ancestors(index, id)];
  return Object.fromEntries(Object.entries(index.graph.functions ?? {}).filter(([call]) => !around.includes(call)));
}

/** The innermost module that is the container or contains it; else the root. */
function moduleAround(index: GraphIndex, id: string): string {
  return [id, ...ancestors(index, id)].find((at) => index.nodes.get(at)?.kind !== "function") ?? ROOT;
}

/** The tensors across a border, named as in the call. */
class Border {
  readonly inputs = new Map<string, GraphNode>();
  readonly outputs = new Map<string, GraphNode>();
  readonly #taken: Map<string, string>;
  readonly #given: Map<string, string>;

  constructor(container: ModuleNode | FunctionNode) {
    const byTensor = (names: Record<string, string> = {}) =>
      new Map(Object.entries(names).map(([name, tensor]) => [tensor, name]));
    this.#taken = byTensor(container.inputs);
    this.#given = byTensor(container.kind === "module" ? container.outputs : {});
  }

  input(tensor: string): string {
    // not "input:…", which are the model's inputs
    const id = `in:${tensor}`;
    const name = this.#taken.get(tensor) ?? plain(tensor);
    if (!this.inputs.has(id)) this.inputs.set(id, { kind: "input", id, name, outputs: [tensor] });
    return id;
  }

  output(tensor: string, from: string, edge: Edge, add: (from: string, edge: Edge) => void): void {
    const id = `out:${tensor}`;
    if (this.outputs.has(id)) return;
    this.outputs.set(id, { kind: "output", id, name: this.#given.get(tensor) ?? plain(tensor) });
    add(from, { to: id, tensor, flow: edge.flow ?? "data", only: edge.only });
  }
}

/** `embeddings/getitem:0` → `getitem`: the producer's name, for tensors without one. */
function plain(tensor: string): string {
  return tensor.replace(/:\d+$/, "").replace(/^.*[/:]/, "");
}

/** Makes names relative to the module. */
function below(path: string, node: GraphNode): GraphNode {
  const short = (name: string) => (name.startsWith(`${path}.`) ? name.slice(path.length + 1) : name);
  if (node.kind === "module") return { ...node, path: short(node.path) };
  return node.kind === "parameter" || node.kind === "buffer" ? { ...node, name: short(node.name) } : node;
}
