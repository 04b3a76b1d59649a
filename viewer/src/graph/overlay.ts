/** Applies an overlay: adds an author's annotations and groups to a graph. */
import type { Overlay } from "../../generated/overlay.js";
import { append } from "./append.js";
import type { Annotation, FunctionNode, GraphData, GraphNode } from "./graph.js";

/** The graph with an overlay applied. Ids that the graph lacks are ignored. */
export function annotate(data: GraphData, overlay: Overlay | null | undefined): GraphData {
  if (overlay == null) return data;
  const annotations = new Map<string, Annotation>(Object.entries(overlay.nodes ?? {}));
  for (const kind of ["notes", "images"] as const)
    overlay[kind]?.forEach(({ nodes = [] }, i) => {
      for (const id of nodes)
        annotations.set(id, { ...annotations.get(id), [kind]: [...(annotations.get(id)?.[kind] ?? []), i + 1] });
    });
  const graph = new Grouping(data).with(overlay.groups ?? []);
  return {
    ...graph,
    annotations: Object.fromEntries(withContentKeys(graph, annotations)),
    images: overlay.images ?? [],
    numbers: overlay.numbers ?? [],
  };
}

type Calls = Map<string, FunctionNode>;

/** Adds groups to a graph, as calls of functions. */
class Grouping {
  readonly #data: GraphData;
  readonly #calls: Calls;
  readonly #scopes = new Map<string, string>();
  #nodes: GraphNode[];

  constructor(data: GraphData) {
    this.#data = data;
    this.#nodes = data.nodes;
    this.#calls = new Map(Object.entries(data.functions ?? {})) as Calls;
    for (const node of data.nodes) if ("scope" in node && node.scope) this.#scopes.set(node.id, node.scope);
  }

  with(groups: NonNullable<Overlay["groups"]>): GraphData {
    if (groups.length === 0) return this.#data;
    for (const { id, name, nodes } of groups) {
      const members = nodes.filter((member) => Object.hasOwn(this.#data.hierarchy, member) || this.#calls.has(member));
      if (members.length > 0) this.#add(id, name, members);
    }
    const nodes = this.#nodes.map((node) =>
      this.#scopes.has(node.id) ? ({ ...node, scope: this.#scopes.get(node.id) } as GraphNode) : node,
    );
    return { ...this.#data, nodes, functions: Object.fromEntries(this.#outerFirst()) };
  }

  #add(id: string, name: string, members: string[]): void {
    const chains = members.map((member) => this.#callsAround(member));
    const common = chains[0]?.find((call) => chains.every((chain) => chain.includes(call)));
    const held = new Set(this.#nodes.flatMap((node) => (this.#isIn(node.id, members) ? [node.id] : [])));
    const parent = this.#moduleAround(members[0] ?? "");
    const isWhole = (call: string) => this.#nodes.every((node) => held.has(node.id) || !this.#isIn(node.id, [call]));
    const moved = members.map((member, i) => {
      const chain = chains[i] ?? [];
      const top = chain[(common === undefined ? chain.length : chain.indexOf(common)) - 1];
      return top !== undefined && isWhole(top) ? top : member;
    });
    this.#calls.set(id, { kind: "function", id, name, parent: common ?? parent, group: true });
    for (const member of moved) {
      const call = this.#calls.get(member);
      if (call === undefined) this.#scopes.set(member, id);
      else this.#calls.set(member, { ...call, parent: id });
    }
    this.#nodes = gatherGroup(this.#data, this.#nodes, held, parent);
  }

  /** The function calls and groups around a node or another call inside its module call, innermost first. */
  #callsAround(id: string): string[] {
    const found: string[] = [];
    let at = this.#calls.has(id) ? this.#calls.get(id)?.parent : this.#scopes.get(id);
    for (; at != null && this.#calls.has(at); at = this.#calls.get(at)?.parent) found.push(at);
    return found;
  }

  #moduleAround(id: string): string | null {
    const outermost = [id, ...this.#callsAround(id)].pop() ?? id;
    const call = this.#calls.get(outermost);
    return (call === undefined ? this.#data.hierarchy[outermost] : call.parent) ?? null;
  }

  /** Whether a node is one of these or inside one. */
  #isIn(id: string, members: readonly string[]): boolean {
    for (let at: string | null = id; at !== null; at = this.#data.hierarchy[at] ?? null)
      if ([at, ...this.#callsAround(at)].some((around) => members.includes(around))) return true;
    return false;
  }

  #outerFirst(): [string, FunctionNode][] {
    const depth = (id: string) => this.#callsAround(id).length;
    return [...this.#calls].sort(([one], [other]) => depth(one) - depth(other));
  }
}

/** Nodes with the group's nodes next to each other: what doesn't depend on them comes before, the rest after. */
function gatherGroup(
  data: GraphData,
  nodes: GraphNode[],
  held: ReadonlySet<string>,
  parent: string | null,
): GraphNode[] {
  const isHeld = ({ id }: GraphNode) => held.has(id);
  const first = nodes.findIndex(isHeld);
  const last = nodes.length - 1 - [...nodes].reverse().findIndex(isHeld);
  const unitOf = (id: string): string => {
    const around = data.hierarchy[id] ?? null;
    return around === parent || around === null ? id : unitOf(around);
  };
  const after = new Set<string>();
  const stretch = nodes.slice(first, last + 1);
  for (const { id } of stretch) {
    if (!held.has(id) && !after.has(unitOf(id))) continue;
    for (const { to } of data.adjacency[id] ?? []) if (!held.has(to)) after.add(unitOf(to));
  }
  const isAfter = (node: GraphNode) => !isHeld(node) && after.has(unitOf(node.id));
  return [
    ...nodes.slice(0, first),
    ...stretch.filter((node) => !isHeld(node) && !isAfter(node)),
    ...stretch.filter(isHeld),
    ...stretch.filter(isAfter),
    ...nodes.slice(last + 1),
  ];
}

/** Adds keys that distinguish containers with different annotations inside, so that only equal ones are shown as one. */
function withContentKeys(
  { nodes, hierarchy, functions = {} }: GraphData,
  annotations: ReadonlyMap<string, Annotation>,
): Map<string, Annotation> {
  const calls = new Map(Object.entries(functions)) as Calls;
  const scopes = new Map(nodes.map((node) => [node.id, "scope" in node ? node.scope : null]));
  const parentOf = (id: string): string | null =>
    (calls.has(id) ? calls.get(id)?.parent : (scopes.get(id) ?? hierarchy[id])) ?? null;
  const order = new Map(nodes.map(({ id }, i) => [id, i]));
  for (const { id } of [...nodes].reverse())
    for (let at = parentOf(id); at !== null && calls.has(at); at = parentOf(at)) order.set(at, order.get(id) ?? 0);
  const offset = (id: string, from: string) => (order.get(id) ?? 0) - (order.get(from) ?? 0);
  const entries = new Map<string, string[]>();
  const groups = [...calls.values()].filter(({ group }) => group).map(({ id }) => id);
  for (const id of new Set([...annotations.keys(), ...groups])) {
    if (!order.has(id)) continue;
    const { order: children = [], ...words } = annotations.get(id) ?? {};
    const text = JSON.stringify([words, calls.get(id)?.name, children.map((child) => offset(child, id))]);
    for (let at: string | null = id; at !== null; at = parentOf(at)) append(entries, at, `${offset(id, at)} ${text}`);
  }
  const result = new Map(annotations);
  for (const [id, lines] of entries) result.set(id, { ...result.get(id), key: lines.sort().join("\n") });
  return result;
}
