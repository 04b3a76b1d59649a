/** A module as a separate graph, with the tensors across its border as inputs and outputs. */
import { append } from "./append.js";
import { ancestors, type Edge, type Graph, type GraphIndex, type GraphNode, type ModuleNode } from "./graph.js";

/** The graph of a module's contents; ids stay as in the whole graph. */
export function subgraph(index: GraphIndex, id: string): Graph {
  const { graph } = index;
  const module = index.nodes.get(id) as ModuleNode;
  const inside = new Set(graph.nodes.filter((node) => ancestors(index, node.id).includes(id)).map((node) => node.id));
  const border = new Border(module);
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
  const nodes = [...border.inputs.values(), ...graph.nodes.filter((node) => inside.has(node.id))];
  nodes.push(...border.outputs.values());
  const hierarchy = new Map(
    nodes.map((node) => {
      const parent = graph.hierarchy.get(node.id) ?? null;
      return [node.id, parent === id ? null : parent];
    }),
  );
  return { ...graph, nodes: nodes.map((node) => below(module.path, node)), adjacency, hierarchy };
}

/** The tensors across a module's border, named as in the module's call. */
class Border {
  readonly inputs = new Map<string, GraphNode>();
  readonly outputs = new Map<string, GraphNode>();
  readonly #taken: Map<string, string>;
  readonly #given: Map<string, string>;

  constructor(module: ModuleNode) {
    const byTensor = (names: Record<string, string> = {}) =>
      new Map(Object.entries(names).map(([name, tensor]) => [tensor, name]));
    this.#taken = byTensor(module.inputs);
    this.#given = byTensor(module.outputs);
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
