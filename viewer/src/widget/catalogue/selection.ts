/** Which models a reader sees, and in which order. */
import { each, type Steps } from "../../shared/slices.js";
import { type Entry, type Listing, type Model, sortKey } from "./catalogue_data.js";
import { type Criterion, criteriaOf } from "./query.js";

export const SORTS = ["name", "parameters", "flops", "activations", "since"] as const;
export type SortBy = (typeof SORTS)[number];

/** What a reader has chosen; empty texts choose everything. */
export interface Choice {
  query: string;
  sort: SortBy;
  isDescending: boolean;
  /** `module:…` or `family:…`. */
  within: string;
  /** The name of one of the ranges. */
  size: string;
}

/** Ranges of parameters: the first number belongs to a range, the second to the next. */
export const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  "<1M": [0, 1e6],
  "1M–10M": [1e6, 1e7],
  "10M–100M": [1e7, 1e8],
  "100M–1B": [1e8, 1e9],
  "≥1B": [1e9, Number.POSITIVE_INFINITY],
};

/** A card: a family, and those of its models that match. */
export interface Found {
  entry: Entry;
  models: Model[];
}

export interface Group {
  /** Empty for the only group. */
  name: string;
  found: Found[];
}

export interface Result {
  groups: Group[];
  /** The number of models. */
  count: number;
  criteria: Criterion[];
}

/** Select and sort in steps. */
export function* selected(listing: Listing, choice: Choice): Steps<Result> {
  const criteria = yield* criteriaOf(choice.query, listing);
  const [least, most] = RANGES[choice.size] ?? [undefined, undefined];
  const hasSize = ({ parameters = -1 }: Model) => least === undefined || (parameters >= least && parameters < most);
  const isSeen = (model: Model) => hasSize(model) && criteria.every((one) => one.matches(model));
  const found: (Found & { key: number | string | undefined })[] = [];
  let count = 0;
  yield* each(listing.entries, (entry) => {
    if (!isWithin(entry, choice.within)) return;
    const models = entry.models.filter(isSeen);
    if (models.length === 0) return;
    count += models.length;
    found.push({ entry, models, key: keyOf(entry, models, choice) });
  });
  yield undefined;
  const sign = choice.isDescending ? -1 : 1;
  found.sort((a, b) => compare(a.key, b.key, sign) || compare(a.entry.key, b.entry.key, 1));
  return { groups: grouped(found, listing.data.groupBy === "module"), count, criteria };
}

export function isWithin({ data: { module = "", name } }: Entry, within: string): boolean {
  return within === "" || within === `module:${module}` || within === `family:${name}`;
}

/** Of several models, the smallest, or the largest if the largest are first. */
function keyOf(entry: Entry, models: Model[], { sort, isDescending }: Choice): number | string | undefined {
  if (sort === "name") return entry.key;
  const of = (model: Model) => (sort === "since" ? sortKey(model.since ?? "") || undefined : model[sort]);
  const keys = models.map(of).sort((a, b) => compare(a, b, isDescending ? -1 : 1));
  return keys[0];
}

/** Unknown values are last in both directions. */
function compare(a: number | string | undefined, b: number | string | undefined, sign: number): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return a < b ? -sign : a > b ? sign : 0;
}

function grouped(found: Found[], isByModule: boolean): Group[] {
  if (!isByModule) return found.length === 0 ? [] : [{ name: "", found }];
  const groups = new Map<string, Found[]>();
  for (const one of found) {
    const module = one.entry.data.module ?? "";
    const group = groups.get(module);
    if (group === undefined) groups.set(module, [one]);
    else group.push(one);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, members]) => ({ name, found: members }));
}
