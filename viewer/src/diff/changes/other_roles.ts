/** Weights whose names have another role now: they load without an error and give wrong results. */
import { type DiffItem, isLeaf, type Keys } from "../items.js";
import type { Matching } from "../match/match.js";
import { besidesOf } from "../vocabulary.js";

/** Names on both sides for weights of one shape with another role now. */
export function otherRoles(
  [before, after]: readonly [Keys, Keys],
  pairs: ReadonlyMap<string, string>,
  matching: Matching,
  sameComputation: boolean,
): string[] {
  const newUses = newUsesIn(after, matching);
  return [...before].flatMap(([key, { shape }]) => {
    const other = after.get(key);
    if (other === undefined || String(other.shape) !== String(shape)) return [];
    const isElsewhere = pairs.has(key) && pairs.get(key) !== key;
    const isOther =
      !sameComputation && (isAmongOthers(matching, key) || isUsedByAnother(newUses, matching, key, shape));
    return isElsewhere || isOther ? [key] : [];
  });
}

/** Weights with another use than before, and the roles that they have now. */
function newUsesIn(keys: Keys, matching: Matching): ReadonlySet<string> {
  const newUses = new Set<string>();
  for (const [key, { shape }] of keys) {
    const now = use(matching, 1, key);
    if (now !== use(matching, 0, key)) newUses.add(`${now} ${besidesOf(key)} ${shape}`);
  }
  return newUses;
}

/** Whether the former role of a weight now belongs to a sibling of its shape that had another role. */
function isUsedByAnother(newUses: ReadonlySet<string>, matching: Matching, key: string, shape: unknown): boolean {
  const own = use(matching, 0, key);
  return own !== use(matching, 1, key) && newUses.has(`${own} ${besidesOf(key)} ${shape}`);
}

/** The use of the module that owns a weight. */
function use(matching: Matching, at: 0 | 1, key: string): number | undefined {
  const { parameters, byId } = at === 0 ? matching.a : matching.b;
  const owner = byId.get(parameters.get(key)?.owner ?? "");
  return owner === undefined ? undefined : matching.similarity.useOf(owner);
}

/** Whether the module of a weight now reads from and feeds other modules, all of which are in both graphs. */
function isAmongOthers({ a, b, after, before }: Matching, key: string): boolean {
  const [x, y] = [a, b].map(({ byId, parameters }) => byId.get(parameters.get(key)?.owner ?? ""));
  if (x === undefined || y === undefined || !isLeaf(x) || !isLeaf(y) || x.parent === null) return false;
  return (["sources", "readers"] as const).every((direction) => {
    const [old, now] = [neighbours(x, direction), neighbours(y, direction)];
    if (old.length === 0 || now.length === 0) return false;
    if (!old.every((item) => after.has(item)) || !now.every((item) => before.has(item))) return false;
    return !old.some((item) => now.includes(after.get(item) as DiffItem));
  });
}

function neighbours(module: DiffItem, direction: "sources" | "readers"): DiffItem[] {
  const ends = module.children.flatMap((op) =>
    direction === "sources" ? op.sources.map(({ from }) => from) : op.readers.map(({ to }) => to),
  );
  return ends.filter((item) => item.parent !== module && item.kind === "op").map(unitOf);
}

/** The layer around an op, or the op itself. */
function unitOf(op: DiffItem): DiffItem {
  return op.parent !== null && op.parent.parent !== null && isLeaf(op.parent) ? op.parent : op;
}
