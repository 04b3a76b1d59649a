/** The edges of a picture across the borders of expanded modules: upstream, downstream, and paths between two nodes. */
import { linePath } from "../draw/wires.js";
import { append } from "../graph/append.js";
import type { OnlyIn } from "../graph/graph.js";
import type { Layout, Placed } from "../layout/layout.js";
import { BORDER, type Frame, type Wire } from "../view/frame.js";

/** A wire of the picture between two vertices: a collapsed node (its id) or a port of an expanded one. */
export interface PictureEdge {
  from: string;
  to: string;
  tensor: string;
  /** Number of tensors; `tensor` is the first. */
  count: number;
  /** Ids of the nodes at its ends; at the border of a container, that of the container. */
  source: string;
  target: string;
  /** Its points in the picture. */
  line: (readonly [x: number, y: number])[];
  /** Whether it ends at a node, not at a border. */
  hasArrow: boolean;
}

type FlowDirection = "before" | "after";

export class Reachability {
  readonly #edges: PictureEdge[] = [];
  /** Vertex → the edges that leave it, and the edges that reach it. */
  readonly #leaving = new Map<string, PictureEdge[]>();
  readonly #reaching = new Map<string, PictureEdge[]>();
  /** Id of a node → the edges that leave it, and the edges that reach it from outside. */
  readonly #outputs = new Map<string, PictureEdge[]>();
  readonly #inputs = new Map<string, PictureEdge[]>();
  /** Vertices that are ports of expanded nodes. */
  readonly #ports = new Set<string>();

  /** @param hidden the version that isn't shown, of two */
  constructor({ root }: Layout, hidden?: OnlyIn) {
    const stack: { placed: Placed; x: number; y: number }[] = [{ placed: root, x: 0, y: 0 }];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      const { placed, x, y } = at;
      this.#addEdges(placed, x, y, hidden);
      placed.inner.forEach((inner, i) => {
        const box = placed.geometry.boxes[i];
        if (inner !== null && box !== undefined) stack.push({ placed: inner, x: x + box.x, y: y + box.y });
      });
    }
  }

  /** The edges at a node, each followed through borders to the nodes at its other ends. */
  edgesAt(id: string): PictureEdge[] {
    const isPort = (vertex: string) => this.#ports.has(vertex);
    return [
      ...this.reach(id, "before", ({ from }) => isPort(from)),
      ...this.reach(id, "after", ({ to }) => isPort(to)),
    ];
  }

  /** Every edge upstream ("before") or downstream ("after") of a node. */
  reach(id: string, direction: FlowDirection, goesOn: (edge: PictureEdge) => boolean = () => true): PictureEdge[] {
    const found = new Set<PictureEdge>();
    const stack = this.#startingAt(id, direction);
    for (let edge = stack.pop(); edge !== undefined; edge = stack.pop()) {
      if (found.has(edge)) continue;
      found.add(edge);
      if (goesOn(edge)) stack.push(...this.#next(edge, direction));
    }
    return [...found];
  }

  /** The shortest path between two nodes in either direction; empty if there is none. */
  path(one: string, other: string): PictureEdge[] {
    const path = this.#pathTo(one, other);
    return path.length > 0 ? path : this.#pathTo(other, one);
  }

  /** The edge nearest to a point of the picture within a distance. */
  nearest(x: number, y: number, limit: number): PictureEdge | undefined {
    let least = limit;
    let found: PictureEdge | undefined;
    for (const edge of this.#edges) {
      const far = distance(edge, x, y, least);
      if (far >= least) continue;
      least = far;
      found = edge;
    }
    return found;
  }

  /** One SVG path along edges, with their arrowheads. */
  svgPath(edges: readonly PictureEdge[]): string {
    return edges.map(({ line, hasArrow }) => linePath(line, hasArrow)).join("");
  }

  #addEdges({ frame, geometry }: Placed, x: number, y: number, hidden: OnlyIn | undefined): void {
    frame.wires.forEach((wire, i) => {
      if (hidden !== undefined && wire.only === hidden) return;
      const edge: PictureEdge = {
        ...this.#ends(frame, wire),
        tensor: wire.tensor,
        count: wire.count,
        source: frame.items[wire.from]?.id ?? frame.id,
        target: frame.items[wire.to]?.id ?? frame.id,
        line: (geometry.lines[i] ?? []).map(([px, py]) => [px + x, py + y] as const),
        hasArrow: wire.to !== BORDER && (frame.items[wire.to]?.frame ?? null) === null,
      };
      this.#edges.push(edge);
      append(this.#leaving, edge.from, edge);
      append(this.#reaching, edge.to, edge);
      if (wire.from !== BORDER) append(this.#outputs, edge.source, edge);
      if (wire.to !== BORDER) append(this.#inputs, edge.target, edge);
    });
  }

  #ends(frame: Frame, { from, fromPort, to, toPort }: Wire): Pick<PictureEdge, "from" | "to"> {
    return {
      from: this.#vertex(frame, from, fromPort, from === BORDER ? "in" : "out"),
      to: this.#vertex(frame, to, toPort, to === BORDER ? "out" : "in"),
    };
  }

  /** A port is one vertex, seen from outside or from inside. */
  #vertex(frame: Frame, end: number, port: number, side: "in" | "out"): string {
    const item = frame.items[end];
    if (item !== undefined && item.frame === null) return item.id;
    const name = `${side} ${port} ${item?.id ?? frame.id}`;
    this.#ports.add(name);
    return name;
  }

  #startingAt(id: string, direction: FlowDirection): PictureEdge[] {
    return [...((direction === "after" ? this.#outputs : this.#inputs).get(id) ?? [])];
  }

  #next(edge: PictureEdge, direction: FlowDirection): PictureEdge[] {
    return (direction === "after" ? this.#leaving.get(edge.to) : this.#reaching.get(edge.from)) ?? [];
  }

  /** Breadth-first search along the flow. */
  #pathTo(from: string, to: string): PictureEdge[] {
    const ends = new Set(this.#inputs.get(to));
    const front = this.#startingAt(from, "after");
    const cameFrom = new Map<PictureEdge, PictureEdge | undefined>(front.map((edge) => [edge, undefined]));
    for (const edge of front) {
      if (ends.has(edge)) return backtrack(cameFrom, edge);
      for (const next of this.#next(edge, "after")) {
        if (cameFrom.has(next)) continue;
        cameFrom.set(next, edge);
        front.push(next);
      }
    }
    return [];
  }
}

function backtrack(cameFrom: Map<PictureEdge, PictureEdge | undefined>, last: PictureEdge): PictureEdge[] {
  const path: PictureEdge[] = [];
  for (let at: PictureEdge | undefined = last; at !== undefined; at = cameFrom.get(at)) path.unshift(at);
  return path;
}

/** The distance from a point to an edge, at most the limit. Most segments are parallel to an axis. */
function distance({ line }: PictureEdge, x: number, y: number, limit: number): number {
  let least = limit;
  for (let i = 1; i < line.length; i += 1) {
    const [ax, ay] = line[i - 1] ?? [0, 0];
    const [bx, by] = line[i] ?? [0, 0];
    if (Math.max(ax, bx) < x - least || Math.min(ax, bx) > x + least) continue;
    if (Math.max(ay, by) < y - least || Math.min(ay, by) > y + least) continue;
    const length = (bx - ax) ** 2 + (by - ay) ** 2;
    const part = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length));
    least = Math.min(least, Math.hypot(ax + part * (bx - ax) - x, ay + part * (by - ay) - y));
  }
  return least;
}
