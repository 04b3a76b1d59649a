/** The costs of nodes: parameters, FLOPs, bytes of activations, bytes moved by ops, and their time. */
import { sum } from "d3-array";
import { callsOf, signBefore } from "../graph/bounds.js";
import { childrenOf, type GraphIndex, type GraphNode, ROOT } from "../graph/graph.js";
import { movedBytes, sizeOf } from "./moved_bytes.js";
import { furthest, isNumberLens, type NumberLens, numbersInside } from "./numbers.js";

export const LENSES = ["parameters", "flops", "memory", "intensity", "time"] as const;
export type CostLens = (typeof LENSES)[number];
/** What boxes may show: costs, or an author's numbers. */
export type BoxLens = CostLens | NumberLens;

/** Measures that add up. */
export type AdditiveLens = Exclude<CostLens, "intensity">;
const COUNTS = { flops: "flops", memory: "activation_bytes", time: "time_ns" } as const;

export interface Cost {
  /** Weights used by several nodes count once. */
  parameters: number;
  /** Undefined if the trace couldn't count them. */
  flops: number | undefined;
  memory: number | undefined;
  moved: number;
  /** Nanoseconds; undefined if the trace didn't measure them. */
  time: number | undefined;
  /** `≤ ` or `≈ ` for amounts that depend on assumed sizes, `≥ ` for those of which some is unknown. */
  signs: { flops?: string; memory?: string };
  /** The author's numbers, of each list. */
  numbers: readonly (number | undefined)[];
}

/** Whether a box of this kind can have costs. */
export function isCosted(kind: string): boolean {
  return !/^(input|output|constant|buffer)$/.test(kind);
}

/** Whether a box of this kind shows a lens: it can have costs, or an author gives a number to it, as to an input. */
export function showsLens(kind: string, cost: Cost, lens: BoxLens): boolean {
  return isCosted(kind) || (isNumberLens(lens) && amountOf(cost, lens) !== undefined);
}

/** An amount, including FLOPs per byte moved, which don't add up. */
export function amountOf(cost: Cost, lens: BoxLens): number | undefined {
  if (isNumberLens(lens)) return cost.numbers[Number(lens.slice("numbers".length))];
  if (lens !== "intensity") return cost[lens];
  return cost.flops === undefined || cost.moved === 0 ? undefined : cost.flops / cost.moved;
}

export class Costs {
  readonly #index: GraphIndex;
  #moved: ReadonlyMap<string, number> | undefined;
  /** Path of a module → the names of the weights in it. */
  readonly #owned = new Map<string, string[]>();

  /** @param index the whole trace, with calls of functions */
  constructor(index: GraphIndex) {
    this.#index = index;
    for (const name of index.graph.parameters.keys()) this.#own(name);
  }

  get whole(): Cost {
    const { flops, activation_bytes, time_ns } = this.#index.graph.model;
    return {
      parameters: this.total("parameters"),
      flops: flops ?? undefined,
      memory: activation_bytes ?? undefined,
      moved: this.#movedBy(ROOT),
      time: time_ns ?? undefined,
      signs: signsOf(this.#index, [ROOT]),
      numbers: [],
    };
  }

  /** The total cost of several nodes. @param shown the graph of the picture, with groups that the trace lacks */
  of(ids: readonly string[], shown: GraphIndex = this.#index): Cost {
    const nodes = ids.flatMap((id) => this.#traced(id, shown));
    return {
      parameters: this.#parameters(nodes),
      flops: this.#known(nodes, "flops"),
      memory: this.#known(nodes, "activation_bytes"),
      moved: sum(nodes, ({ id }) => this.#movedBy(id) * callsOf(this.#index, id)),
      time: this.#known(nodes, "time_ns"),
      signs: signsOf(
        this.#index,
        nodes.map(({ id }) => id),
      ),
      numbers: this.#numbers(ids, nodes),
    };
  }

  /** The largest number among nodes: a group of the view has those of its nodes, unless it has its own. */
  #numbers(ids: readonly string[], nodes: readonly GraphNode[]): (number | undefined)[] {
    return numbersInside(this.#index).map((known, i) => {
      const own = ids.flatMap((id) => known.get(id) ?? []);
      const values = own.length > 0 ? own : nodes.map(({ id }) => known.get(id));
      return furthest(this.#index.graph.numbers?.[i]?.scale, values);
    });
  }

  /** One amount of several nodes together; 0 if unknown. */
  amount(ids: readonly string[], measure: AdditiveLens, shown: GraphIndex = this.#index): number {
    const nodes = ids.flatMap((id) => this.#traced(id, shown));
    if (measure === "parameters") return this.#parameters(nodes);
    return this.#known(nodes, COUNTS[measure]) ?? 0;
  }

  /** Of the whole model. */
  total(measure: AdditiveLens): number {
    const { model } = this.#index.graph;
    return measure === "parameters" ? model.parameters.total : (model[COUNTS[measure]] ?? 0);
  }

  #known(nodes: readonly GraphNode[], what: keyof Counted): number | undefined {
    const values = nodes.flatMap((node) => {
      const value = (node as Counted)[what];
      return value == null ? [] : value * callsOf(this.#index, node.id);
    });
    return values.length === 0 ? undefined : sum(values);
  }

  #movedBy(id: string): number {
    this.#moved ??= movedBytes(this.#index);
    return this.#moved.get(id) ?? 0;
  }

  /** A node, or the nodes in a group of the view. */
  #traced(id: string, shown: GraphIndex): GraphNode[] {
    const node = this.#index.nodes.get(id);
    if (node !== undefined && (node.kind !== "function" || node.group !== true)) return [node];
    const index = node === undefined ? shown : this.#index;
    return childrenOf(index, id, () => false).flatMap((child) => this.#traced(child, shown));
  }

  #parameters(nodes: readonly GraphNode[]): number {
    const counted = new Map<string, number>();
    let rest = 0;
    for (const node of nodes.flatMap((each) => this.#owners(each))) {
      const names = this.#names(node);
      for (const name of names) counted.set(name, this.#size(name));
      // weights that the graph doesn't name
      if (node.kind === "module") rest += node.parameters.total - sum(names, (name) => this.#size(name));
    }
    return sum(counted.values()) + rest;
  }

  /** The modules, ops and weights inside function calls, each module once. */
  #owners(node: GraphNode): GraphNode[] {
    if (node.kind !== "function") return [node];
    return childrenOf(this.#index, node.id).flatMap((id) => {
      const child = this.#index.nodes.get(id);
      return child === undefined ? [] : this.#owners(child);
    });
  }

  /** The first name of a weight with several. */
  #names(node: GraphNode): Set<string> {
    const { parameters } = this.#index.graph;
    const used =
      node.kind === "module"
        ? (this.#owned.get(node.path) ?? [])
        : node.kind === "parameter"
          ? [node.name]
          : node.kind === "op"
            ? Object.values(node.weights ?? {})
            : [];
    const isParameter = (name: string) => (parameters.get(name)?.kind ?? "parameter") === "parameter";
    return new Set(
      used.filter(isParameter).map((name) => [name, ...(parameters.get(name)?.tied ?? [])].sort()[0] ?? ""),
    );
  }

  #own(name: string): void {
    for (let end = name.indexOf("."); end >= 0; end = name.indexOf(".", end + 1)) {
      const path = name.slice(0, end);
      const names = this.#owned.get(path);
      if (names === undefined) this.#owned.set(path, [name]);
      else names.push(name);
    }
  }

  #size(name: string): number {
    return sizeOf(this.#index.graph.parameters.get(name)?.shape);
  }
}

type Counted = { flops?: number | null; activation_bytes?: number | null; time_ns?: number | null };

function signsOf(index: GraphIndex, ids: readonly string[]): Cost["signs"] {
  const signs = (measure: "flops" | "memory") => {
    const [first, ...others] = new Set(ids.flatMap((id) => signBefore(index, id, measure) || []));
    return first && { [measure]: others.length > 0 ? "≈ " : first };
  };
  return { ...signs("flops"), ...signs("memory") };
}
