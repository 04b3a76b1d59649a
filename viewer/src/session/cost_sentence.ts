/** What a model costs at some sizes, in a sentence: `T = 8192: 14 GiB activations, attention 71 %`. */
import { callsOf, signBefore } from "../graph/bounds.js";
import { childrenOf, type GraphIndex, ROOT } from "../graph/graph.js";
import { formatBytes, formatFlops, percent } from "../shared/amounts.js";
import { words } from "../shared/size_strings.js";
import { fill, strings } from "../shared/strings.js";
import { type Family, familyOf } from "../view/labels/op_families.js";

const COUNTS = { memory: "activation_bytes", flops: "flops" } as const;
type Measure = keyof typeof COUNTS;

/** @param sizes `T = 8192` */
export function costSentence(index: GraphIndex, sizes: string): string {
  const amount = (measure: Measure, format: (value: number) => string) => {
    const value = index.graph.model[COUNTS[measure]];
    if (!value) return [];
    const text = signBefore(index, ROOT, measure) + format(value);
    const [family, part] = largestPart(index, measure);
    const word = (strings as Partial<Record<string, string>>)[family];
    return [word === undefined ? text : fill(words.mostly, text, word, percent(part / value))];
  };
  const told = [
    ...amount("memory", (value) => fill(words.activationsOf, formatBytes(value))),
    ...amount("flops", (value) => formatFlops(value, words.unitFlops)),
  ];
  return fill(words.toldAt, sizes, [...told, ...checkedPart(index)].join(" · "));
}

/** Up to which sizes expressions were checked, if the set ones are larger. */
function checkedPart({ graph: { atSizes, sizes } }: GraphIndex): string[] {
  const most = (name: string) => Math.max(...(sizes?.checked ?? []).map((each) => each[name] ?? 0));
  const beyond = [...(atSizes?.changed ?? [])].filter(([name, size]) => sizes?.checked && size > most(name));
  if (beyond.length === 0) return [];
  return [fill(strings.checkedTo, beyond.map(([name]) => `${name} = ${most(name)}`).join(", "))];
}

/** The family whose modules and ops cost most together. A module of a family counts with all that is in it. */
function largestPart(index: GraphIndex, measure: Measure): readonly [Family, number] {
  const parts = new Map<Family, number>();
  const walk = (id: string) => {
    for (const child of childrenOf(index, id)) {
      const node = index.nodes.get(child);
      if (node?.kind !== "module" && node?.kind !== "op") continue;
      const family = familyOf(index, node);
      if (node.kind === "module" && family === "other") walk(child);
      else {
        const cost = (node[COUNTS[measure]] ?? 0) * callsOf(index, child);
        parts.set(family, (parts.get(family) ?? 0) + cost);
      }
    }
  };
  walk(ROOT);
  return [...parts].reduce((most, each) => (each[1] > most[1] ? each : most), ["other", 0]);
}
