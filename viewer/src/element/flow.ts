/** Who feeds whom in the picture on screen: for lighting up what comes before a node, what after it, and ways between. */
import type { Layout, Placed } from "../layout.js";
import { BORDER, type Frame } from "../view.js";

/** A wire of the picture, between vertices: closed nodes by their id, and ports of open ones. */
export interface Edge {
  from: string;
  to: string;
  tensor: string;
  /** Ids of the nodes at its ends; an end at the border of a container is that container. */
  source: string;
  target: string;
  /** Its points in the picture. */
  line: (readonly [x: number, y: number])[];
  /** Whether it ends at a node, not at a border. */
  arrives: boolean;
}

export interface Flow {
  edges: Edge[];
  /** Vertex → the edges that leave it. */
  after: Map<string, Edge[]>;
  /** Vertex → the edges that reach it. */
  before: Map<string, Edge[]>;
  /** Id of a node → the edges that leave and reach it, from outside. */
  from: Map<string, Edge[]>;
  to: Map<string, Edge[]>;
  /** Vertices that are ports of open nodes. */
  ports: Set<string>;
}

/** Frames never change, so what was read once stays. */
const known = new WeakMap<Placed, Flow>();

export type Direction = "before" | "after";

/** Read the flow off a layout. */
export function flowOf(layout: Layout): Flow {
  const before = known.get(layout.root);
  if (before !== undefined) return before;
  const flow: Flow = {
    edges: [],
    after: new Map(),
    before: new Map(),
    from: new Map(),
    to: new Map(),
    ports: new Set(),
  };
  known.set(layout.root, flow);
  const stack: { placed: Placed; x: number; y: number }[] = [{ placed: layout.root, x: 0, y: 0 }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { placed, x, y } = at;
    addEdges(flow, placed, x, y);
    placed.inner.forEach((inner, i) => {
      const box = placed.geometry.boxes[i];
      if (inner !== null && box !== undefined) stack.push({ placed: inner, x: x + box.x, y: y + box.y });
    });
  }
  return flow;
}

function addEdges(flow: Flow, { frame, geometry }: Placed, x: number, y: number): void {
  frame.wires.forEach((wire, i) => {
    const edge: Edge = {
      from: vertex(flow, frame, wire.from, wire.fromPort, wire.from === BORDER ? "in" : "out"),
      to: vertex(flow, frame, wire.to, wire.toPort, wire.to === BORDER ? "out" : "in"),
      tensor: wire.tensor,
      source: frame.items[wire.from]?.id ?? frame.id,
      target: frame.items[wire.to]?.id ?? frame.id,
      line: (geometry.lines[i] ?? []).map(([px, py]) => [px + x, py + y] as const),
      arrives: wire.to !== BORDER && (frame.items[wire.to]?.frame ?? null) === null,
    };
    flow.edges.push(edge);
    append(flow.after, edge.from, edge);
    append(flow.before, edge.to, edge);
    if (wire.from !== BORDER) append(flow.from, edge.source, edge);
    if (wire.to !== BORDER) append(flow.to, edge.target, edge);
  });
}

/** A port is one vertex, seen from outside or from inside. */
function vertex(flow: Flow, frame: Frame, place: number, port: number, side: "in" | "out"): string {
  const item = frame.items[place];
  if (item !== undefined && item.frame === null) return item.id;
  const name = `${side} ${port} ${item?.id ?? frame.id}`;
  flow.ports.add(name);
  return name;
}

function append(lists: Map<string, Edge[]>, key: string, edge: Edge): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [edge]);
  else list.push(edge);
}

/** The edges at a node, each up to the nodes at its other ends, through the borders on its way. */
export function edgesAt(flow: Flow, id: string): Edge[] {
  const isPort = (vertex: string) => flow.ports.has(vertex);
  return [
    ...reach(flow, id, "before", ({ from }) => isPort(from)),
    ...reach(flow, id, "after", ({ to }) => isPort(to)),
  ];
}

/** Every edge that leads to a node, or away from it. */
export function reach(
  flow: Flow,
  id: string,
  direction: Direction,
  goesOn: (edge: Edge) => boolean = () => true,
): Edge[] {
  const found = new Set<Edge>();
  const stack = starts(flow, id, direction);
  for (let edge = stack.pop(); edge !== undefined; edge = stack.pop()) {
    if (found.has(edge)) continue;
    found.add(edge);
    if (goesOn(edge)) stack.push(...onward(flow, edge, direction));
  }
  return [...found];
}

/** The fewest edges from one node to another along the flow; nothing where there is no way. */
export function shortestWay(flow: Flow, from: string, to: string): Edge[] {
  const cameBy = new Map<Edge, Edge | undefined>();
  const ends = new Set(flow.to.get(to));
  let front = starts(flow, from, "after");
  for (const edge of front) cameBy.set(edge, undefined);
  while (front.length > 0) {
    const arrived = front.find((edge) => ends.has(edge));
    if (arrived !== undefined) return trail(cameBy, arrived);
    const next: Edge[] = [];
    for (const edge of front) {
      for (const follower of onward(flow, edge, "after")) {
        if (cameBy.has(follower)) continue;
        cameBy.set(follower, edge);
        next.push(follower);
      }
    }
    front = next;
  }
  return [];
}

function starts(flow: Flow, id: string, direction: Direction): Edge[] {
  return [...((direction === "after" ? flow.from : flow.to).get(id) ?? [])];
}

function onward(flow: Flow, edge: Edge, direction: Direction): Edge[] {
  return (direction === "after" ? flow.after.get(edge.to) : flow.before.get(edge.from)) ?? [];
}

function trail(cameBy: Map<Edge, Edge | undefined>, last: Edge): Edge[] {
  const way: Edge[] = [];
  for (let at: Edge | undefined = last; at !== undefined; at = cameBy.get(at)) way.unshift(at);
  return way;
}
