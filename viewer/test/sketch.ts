/** Graphs drawn as text, for tests: one line per edge or chain, `a/b` for `b` inside module `a`, `#` starts a comment. */
import type { Edge, GraphData, GraphNode, ModuleNode } from "../src/graph/graph.js";

/**
 * ```
 * x > enc.0/linear > enc.0/relu > y        x is an input and y an output: names at an end, outside modules
 * ```
 * Modules appear with their contents, in order of first mention; modules of one class (`classes`) have one signature.
 */
export function sketch(text: string, classes: Record<string, string> = {}): GraphData {
  const chains = text
    .split("\n")
    .map((line) => (line.split("#")[0] ?? "").trim())
    .filter((line) => line !== "")
    .map((line) => line.split(">").map((name) => name.trim()));
  const nodes = new Map<string, GraphNode>();
  const hierarchy: Record<string, string | null> = {};
  const adjacency: Record<string, Edge[]> = {};
  for (const chain of chains) for (const name of chain) addNode(nodes, hierarchy, chains, name, classes);
  const arrivals = new Map<string, number>();
  for (const chain of chains) {
    chain.slice(1).forEach((name, i) => {
      const [from, to] = [idOf(chain[i] ?? "", chains), idOf(name, chains)];
      const argument = arrivals.get(to) ?? 0;
      arrivals.set(to, argument + 1);
      adjacency[from] = [...(adjacency[from] ?? []), { to, tensor: `${from}:0`, argument: String(argument) }];
    });
  }
  const tensors = [...nodes.values()].flatMap((node) =>
    "outputs" in node && Array.isArray(node.outputs) ? node.outputs : [],
  );
  return {
    format: "modeldiagrams",
    version: "1.0",
    model: { name: "Sketch", class: "test.Sketch", parameters: { own: 0, total: 0, trainable: 0 } },
    nodes: inOrder([...nodes.values()], adjacency),
    adjacency,
    hierarchy,
    tensors: Object.fromEntries(tensors.map((tensor) => [tensor, { shape: [1, 8], dtype: "float32" }])),
    parameters: {},
    status: { state: "complete" },
    assumptions: [],
    provenance: { modeldiagrams: "test" },
  };
}

/** The graph with a parameter that these ops read, at the top. */
export function withParameter(graph: GraphData, name: string, owner: string, readers: string[]): GraphData {
  const id = `parameter:${name}`;
  const edges = readers.map((to) => ({ to, tensor: `${id}:0`, argument: "weight" }));
  const first = graph.nodes.findIndex((node) => readers.includes(node.id));
  const before = graph.nodes.slice(0, first);
  return {
    ...graph,
    nodes: [...before, { kind: "parameter", id, name, outputs: [`${id}:0`] }, ...graph.nodes.slice(first)],
    adjacency: { ...graph.adjacency, [id]: edges },
    hierarchy: { ...graph.hierarchy, [id]: null },
    tensors: { ...graph.tensors, [`${id}:0`]: { shape: [8, 8], dtype: "float32" } },
    parameters: { ...graph.parameters, [name]: { shape: [8, 8], dtype: "float32", owner } },
  };
}

/** A module call of a graph, to be changed. */
export function moduleOf(graph: GraphData, id: string): ModuleNode {
  const found = graph.nodes.find((node) => node.id === id);
  if (found?.kind !== "module") throw new Error(`no module ${id}`);
  return found;
}

function isEnd(name: string, chains: string[][]): "input" | "output" | null {
  if (name.includes("/")) return null;
  const places = chains.flatMap((chain) =>
    chain.flatMap((other, i) => (other === name ? [{ i, last: chain.length - 1 }] : [])),
  );
  if (places.every(({ i }) => i === 0)) return "input";
  return places.every(({ i, last }) => i === last) ? "output" : null;
}

function idOf(name: string, chains: string[][]): string {
  const end = isEnd(name, chains);
  if (end !== null) return `${end}:${name}`;
  return name.includes("/") ? name : `/${name}`;
}

function addNode(
  nodes: Map<string, GraphNode>,
  hierarchy: Record<string, string | null>,
  chains: string[][],
  name: string,
  classes: Record<string, string>,
): void {
  const id = idOf(name, chains);
  if (nodes.has(id)) return;
  const end = isEnd(name, chains);
  const slash = name.lastIndexOf("/");
  const holder = slash > 0 ? name.slice(0, slash) : null;
  if (holder !== null) addModules(nodes, hierarchy, holder, classes);
  hierarchy[id] = holder;
  if (end === "output") nodes.set(id, { kind: "output", id, name });
  else if (end === "input") nodes.set(id, { kind: "input", id, name, outputs: [`${id}:0`] });
  else nodes.set(id, { kind: "op", id, name: `torch.${name.slice(slash + 1).split("'")[0]}`, outputs: [`${id}:0`] });
}

/** Adds a module and its ancestors; `classes` names the modules. */
function addModules(
  nodes: Map<string, GraphNode>,
  hierarchy: Record<string, string | null>,
  path: string,
  classes: Record<string, string>,
): void {
  if (nodes.has(path)) return;
  const parts = path.split(".");
  const above = parts.map((_, i) => parts.slice(0, i).join(".")).filter((other) => other in classes);
  for (const other of above) if (!nodes.has(other)) addModules(nodes, hierarchy, other, classes);
  hierarchy[path] = above[above.length - 1] ?? null;
  const name = classes[path] ?? "Block";
  const node: ModuleNode = {
    ...{ kind: "module", id: path, path, class: `test.${name}`, signature: name },
    parameters: { own: 1200, total: 1200, trainable: 1200 },
  };
  nodes.set(path, node);
}

/** Execution order: inputs, then nodes in the order of the sketch, then outputs. */
function inOrder(mentioned: GraphNode[], adjacency: Record<string, Edge[]>): GraphNode[] {
  const stage = (node: GraphNode) => (node.kind === "input" ? 0 : node.kind === "output" ? 2 : 1);
  const nodes = [...mentioned].sort((a, b) => stage(a) - stage(b));
  const place = new Map(nodes.map((node, i) => [node.id, i]));
  for (const node of nodes) {
    for (const edge of adjacency[node.id] ?? []) {
      if ((place.get(edge.to) ?? 0) < (place.get(node.id) ?? 0)) {
        throw new Error(`sketch lines must be in order of execution: ${edge.to} is before ${node.id}`);
      }
    }
  }
  return nodes;
}
