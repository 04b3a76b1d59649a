/** Which models a reader sees, and in which order. */
import { each, type Steps } from "../../shared/slices.js";
import type { Choice } from "./address.js";
import { type Entry, type Listing, type Model, sortKey } from "./catalogue_data.js";
import { type Criterion, criteriaOf } from "./query.js";

export const SORTS = ["name", "parameters", "flops", "activations", "since"] as const;
export type SortBy = (typeof SORTS)[number];

/** Ranges of parameters: the first number belongs to a range, the second to the next. */
export const RANGES: Readonly<Record<string, readonly [least: number, most: number, text: string]>> = {
  "0-1M": [0, 1e6, "< 1M"],
  "1M-10M": [1e6, 1e7, "1M–10M"],
  "10M-100M": [1e7, 1e8, "10M–100M"],
  "100M-1B": [1e8, 1e9, "100M–1B"],
  "1B-": [1e9, Number.POSITIVE_INFINITY, "≥ 1B"],
};

/** A card: a family, and those of its models that match. */
export interface Found {
  entry: Entry;
  models: Model[];
}

export interface Result {
  /** Cards by heading, which is empty for the only group. */
  groups: Map<string, Found[]>;
  /** The number of models. */
  count: number;
  criteria: Criterion[];
}

type Key = number | string | undefined;

/** Select and sort in steps. */
export function* selected(listing: Listing, choice: Choice): Steps<Result> {
  const criteria = yield* criteriaOf(choice.query, listing);
  const [least, most] = RANGES[choice.size] ?? [-1, Number.POSITIVE_INFINITY];
  const hasSize = ({ parameters = -1 }: Model) => parameters >= least && parameters < most;
  const isSeen = (model: Model) => hasSize(model) && criteria.every((one) => one.matches(model));
  const sign = choice.sort.startsWith("-") ? -1 : 1;
  const by = SORTS.find((one) => choice.sort.endsWith(one)) ?? "name";
  const found: (Found & { key: Key })[] = [];
  let count = 0;
  yield* each(listing.entries, (entry) => {
    const { module = "", name } = entry.data;
    if (!["", `module:${module}`, `family:${name}`].includes(choice.in)) return;
    const models = entry.models.filter(isSeen);
    if (models.length === 0) return;
    count += models.length;
    found.push({ entry, models, key: keyOf(entry, models, by, sign) });
  });
  yield;
  found.sort((a, b) => compare(a.key, b.key, sign) || compare(a.entry.key, b.entry.key, 1));
  const groups = new Map<string, Found[]>();
  yield* each(found, (one) => {
    const name = listing.data.groupBy === "module" ? (one.entry.data.module ?? "") : "";
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  });
  return { groups: new Map([...groups].sort(([a], [b]) => compare(a, b, 1))), count, criteria };
}

/** Of several models, that of the one which is first. */
function keyOf(entry: Entry, models: Model[], by: SortBy, sign: number): Key {
  if (by === "name") return entry.key;
  const keys = models.map((model) => (by === "since" ? model.since && sortKey(model.since) : model[by]));
  return keys.sort((a, b) => compare(a, b, sign))[0];
}

/** Unknown values are last in both directions. */
function compare(a: Key, b: Key, sign: number): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return a < b ? -sign : a > b ? sign : 0;
}
