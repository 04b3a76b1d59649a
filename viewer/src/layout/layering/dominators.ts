/** Dominators: vertices on every path to another one. */

export const NO_DOMINATOR = -1;

/** Vertex → its immediate dominator; wires lead to larger numbers. */
export function nearestCommon(count: number, wires: { source: number; target: number }[]): number[] {
  const sources: number[][] = Array.from({ length: count }, () => []);
  for (const { source, target } of wires) if (source < target) sources[target]?.push(source);
  const common: number[] = [];
  const meet = (a: number, b: number) => {
    let [one, other] = [a, b];
    while (one !== other) {
      if (one > other) one = common[one] ?? NO_DOMINATOR;
      else other = common[other] ?? NO_DOMINATOR;
    }
    return one;
  };
  for (const [vertex, all] of sources.entries()) common[vertex] = all.reduce(meet, all[0] ?? NO_DOMINATOR);
  return common;
}

/** The longest chain in which each vertex dominates the next, from immediate dominators. */
export function longestChain(common: readonly number[]): number[] {
  const length: number[] = [];
  for (const [vertex, before] of common.entries())
    length[vertex] = before === NO_DOMINATOR ? 1 : (length[before] ?? 0) + 1;
  const chain: number[] = [];
  const end = length.indexOf(length.reduce((most, one) => Math.max(most, one), 0));
  for (let at = end; at >= 0; at = common[at] ?? NO_DOMINATOR) chain.push(at);
  return chain.reverse();
}
