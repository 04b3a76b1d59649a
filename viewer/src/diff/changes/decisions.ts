/** Joins facts that are one decision: reported as one, or one as the cause of the other. */
import { append } from "../../graph/append.js";
import { type DiffItem, isInside, isLeaf } from "../items.js";
import type { Fact, Place } from "./facts.js";

/** `Qwen2Model → Qwen3Model` and so on are one renaming; a small module with another class and content is replaced. */
export function classesTogether(facts: Fact[]): Fact[] {
  const groups = new Map<string, Fact[]>();
  for (const fact of facts) {
    if (fact.id === "class") append(groups, prefixes(String(fact.before), String(fact.after)).join(), fact);
  }
  const merged = [...groups.values()].map((found): Fact => {
    const [first] = found as [Fact];
    if (found.length === 1) return first;
    const [before, after] = prefixes(String(first.before), String(first.after));
    return { ...first, before: `${before}…`, after: `${after}…`, places: found.flatMap(({ places }) => places) };
  });
  const others = facts.filter(({ id }) => id !== "class");
  const settled = merged.map((fact) => caused(fact, others));
  return [...others, ...settled];
}

/** A call of a shared module has its code, arguments and state: differences inside follow from the sharing. */
export function sharingTogether(facts: Fact[]): Fact[] {
  const sharing = facts.filter(({ id }) => id === "shared" || id === "unshared");
  for (const fact of facts) {
    const cause = sharing.find((one) => one !== fact && fact.places.every((place) => isWithin(place, one)));
    if (cause !== undefined) fact.cause = cause;
  }
  return facts;
}

/** Whether a place is inside one of another fact. */
function isWithin(place: Place, { places }: Fact): boolean {
  return places.some((ends) =>
    place.every((item, at) => item === null || isInside(item, ends[at as 0 | 1] as DiffItem)),
  );
}

/** Differences that follow from another class; sizes are decided for the whole model. */
const OWN =
  /^(added|removed|merged|split|replaced|renamed|argument|op-|residual|rewritten|rewired|weight-(added|removed))/;

/** If all differences inside follow from another class, the class is the change, and they describe it. */
function caused(fact: Fact, others: Fact[]): Fact {
  if (!fact.places.every((ends) => ends.every((item) => item !== null && isSmall(item)))) return fact;
  const own = others.filter(({ id, places }) => OWN.test(id) && places.every((place) => isWithin(place, fact)));
  if (own.length < LEAST_OWN) return fact;
  const cause: Fact = { ...fact, id: "replaced" };
  for (const one of own) one.cause = cause;
  return cause;
}

const LEAST_OWN = 2;

/** A module that contains only layers. */
function isSmall({ kind, parent, children }: DiffItem): boolean {
  const modules = children.filter((child) => child.kind === "module");
  return kind === "module" && parent !== null && modules.length > 0 && modules.every(isLeaf);
}

/** Two names without the words at the end that they share. */
function prefixes(before: string, after: string): [string, string] {
  const most = Math.min(before.length, after.length) - 1;
  let common = 0;
  while (common < most && before.at(-1 - common) === after.at(-1 - common)) common += 1;
  while (common > 0 && !/[A-Z]/.test(before.at(-common) ?? "")) common -= 1;
  return [before.slice(0, before.length - common), after.slice(0, after.length - common)];
}

const LEAST_SIZE = 16;

/** One decision, `768 → 1024, 3072 → 4096`: sizes with one ratio that are multiples of the smallest. */
export function sizesTogether(facts: Fact[]): Fact[] {
  const ratios = new Map<string, Fact[]>();
  for (const fact of facts) {
    if (fact.id !== "size") continue;
    const ratio = Number(fact.after) / Number(fact.before);
    append(
      ratios,
      ratio === 1 || Number(fact.before) < LEAST_SIZE ? `${fact.before} ${fact.after}` : ratio.toFixed(9),
      fact,
    );
  }
  const merged = [...ratios.values()].flatMap((found) => (isOneDecision(found) ? [together(found)] : bySize(found)));
  return [...facts.filter(({ id }) => id !== "size"), ...merged];
}

function isOneDecision(facts: readonly Fact[]): boolean {
  const least = Math.min(...facts.map(({ before }) => Number(before)));
  return facts.every(({ before }) => Number(before) % least === 0);
}

function bySize(facts: readonly Fact[]): Fact[] {
  const sizes = new Map<string, Fact[]>();
  for (const fact of facts) append(sizes, `${fact.before} ${fact.after}`, fact);
  return [...sizes.values()].map(together);
}

function together(facts: Fact[]): Fact {
  const [first] = facts as [Fact];
  const sizes = new Map(facts.map(({ before, after }) => [Number(before), Number(after)]));
  const sorted = [...sizes].sort(([x], [y]) => x - y);
  const places = facts.flatMap((fact) => fact.places);
  return { ...first, before: sorted.map(([x]) => x), after: sorted.map(([, y]) => y), places };
}
