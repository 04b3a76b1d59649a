/** Ranks plans by the simplest sufficient means, remembers the answers of dot, and survives its crashes. */
import type { Steps } from "../../shared/slices.js";
import type { Geometry } from "../coord/geometry.js";
import { oriented } from "../decross/mirror.js";
import { type Plan, planKey } from "../plan.js";
import type { SharedLayout } from "../shared_layout.js";
import { rankAsChain } from "./chain.js";
import { type Ranking, rankByDot, type Viz } from "./dot.js";
import { rankAsColumn, rankPlainly } from "./fallback.js";
import { packTables, packUnread } from "./tables.js";
import { withTail } from "./tail.js";

/** State shared by the layouts of one graph. */
export interface LayoutCache {
  /** Geometries by plan and surrounding. */
  geometries: Map<string, Geometry>;
  /** What equal frames share, by frame and surrounding. */
  alike: Map<string, SharedLayout>;
  /** Answers of dot by plan. */
  rankings: Map<string, Ranking>;
  /** Consecutive WebAssembly crashes per container; after two it is laid out without dot. */
  crashes: Map<string, number>;
}

/** An empty cache; its maps may forget entries. */
export function layoutCache(make: <T>() => Map<string, T> = () => new Map()): LayoutCache {
  return { geometries: make(), alike: make(), rankings: make(), crashes: new Map() };
}

/** What ranks plans. Without dot, all get the plain layered layout. */
export interface Engine {
  viz: Viz | null;
  cache: LayoutCache;
}

/** Crashed instances, whose memory is in an unknown state. */
const broken = new WeakSet<Viz>();

/** Whether an instance crashed and must be replaced. */
export function isBroken(viz: Viz): boolean {
  return broken.has(viz);
}

/** Consecutive crashes after which a container is laid out without dot. */
const MAX_CRASHES = 2;

/**
 * Most items and wires for dot, whose time grows faster than linearly; larger containers get the plain layout. A limit on
 * size, not on time, so that pictures don't depend on the machine. The worst case takes about half a second.
 */
const MAX_FOR_DOT = 1500;

/** Ranks and positions of a plan: by dot unless something simpler suffices. */
export function* rank(engine: Engine, planned: Plan, ownKey?: string): Steps<Ranking> {
  // without a traced pass there are no wires: a column reads as a list
  if (planned.wires.length === 0) return rankAsColumn(planned);
  const chain = rankAsChain(planned);
  if (chain !== null) return chain;
  const {
    viz,
    cache: { crashes, rankings },
  } = engine;
  if (viz === null || planned.slots.length + planned.wires.length > MAX_FOR_DOT) return rankPlainly(planned);
  const key = ownKey ?? planKey(planned);
  const known = rankings.get(key);
  if (known !== undefined) return known;
  const times = crashes.get(key) ?? 0;
  if (times >= MAX_CRASHES) return rankPlainly(planned);
  if (broken.has(viz)) throw new Error("the layout engine crashed");
  try {
    const ranking = yield* rankWithDot(planned, viz);
    crashes.delete(key);
    rankings.set(key, ranking);
    yield;
    return ranking;
  } catch (error) {
    if (!isCrash(error)) return rankPlainly(planned);
    broken.add(viz);
    crashes.set(key, times + 1);
    throw error;
  }
}

function* rankWithDot(planned: Plan, viz: Viz): Steps<Ranking> {
  const ranked = yield* withTail(planned, (head) => rankByDot(head, viz));
  const isFree =
    planned.order?.isStrict !== true &&
    planned.order?.isSource !== true &&
    planned.slots.every(({ ports }) => ports === null);
  const ranking = isFree ? oriented(planned, ranked) : ranked;
  packTables(planned, ranking);
  packUnread(planned, ranking);
  return ranking;
}

/** Whether an error is a WebAssembly trap, after which the instance is in an unknown state. */
function isCrash(error: unknown): boolean {
  return !(error instanceof Error) || error.name === "RuntimeError" || error instanceof RangeError;
}
