/** The lines that summarise a difference, as in lists on pages. */

import type { Change } from "../../diff/changes/facts.js";
import type { Difference } from "../../diff/difference.js";
import { formatCount, formatFlops } from "../../shared/amounts.js";
import { words } from "../../shared/comparison_strings.js";
import { fill } from "../../shared/strings.js";

const LEVELS = ["breaking", "notable", "detail"] as const;

/** The numbers of the listed changes, the most serious first. */
export function listed(difference: Difference | undefined, withDetails: boolean): number[] {
  const changes = difference?.changes ?? [];
  const levels = withDetails ? LEVELS : LEVELS.slice(0, 2);
  return levels.flatMap((level) => changes.flatMap((change, i) => (change.level === level ? [i] : [])));
}

export function changeSign({ places }: Change): string {
  const isMissing = (side: 0 | 1) => places.length > 0 && places.every((place) => place[side] === null);
  return isMissing(0) ? "+" : isMissing(1) ? "−" : "~";
}

export function headLines({ before, after, reservations, same, same_computation, inventory }: Difference): string[] {
  return [
    fill(words.parametersOf, numbers(before.parameters, after.parameters, formatCount)),
    fill(words.flopsOf, numbers(before.flops, after.flops, formatFlops, [before.flops_sign, after.flops_sign])),
    ...reservations.map((reason) => fill(words.reservation, reason)),
    ...(same_computation && !same ? [words.computedAlike] : []),
    ...(inventory === null ? [] : [words.architectures]),
    ...Object.entries(inventory ?? {}).map(([label, [one, other]]) => `${label}: ${one} → ${other}`),
  ];
}

export function checkpointLine({ checkpoints }: Difference): string {
  return fill(words.checkpoints, checkpoints.verdict.replaceAll("-", " "));
}

function numbers(
  before: number | null,
  after: number | null,
  format: (count: number) => string,
  signs: (string | undefined)[] = [],
): string {
  if (before === null || after === null) return words.uncounted;
  const [one, other] = [before, after].map((count, i) => `${signs[i] ? `${signs[i]} ` : ""}${format(count)}`);
  if (before === after && one === other) return fill(words.asBefore, one ?? "");
  const share = ((after - before) / before) * 100;
  const change = before === 0 ? "" : ` (${share < 0 ? "" : "+"}${share.toFixed(1)}%)`;
  return `${one} → ${other}${change}`;
}
