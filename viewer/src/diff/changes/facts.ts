/** What differs: each kind of change has a stable id, and each fact is listed once with all its places. */
import type { Json } from "../../graph/graph.js";
import type { DiffItem } from "../items.js";

export type Level = "breaking" | "notable" | "detail";

interface Kind {
  /** Id of the same change the other way round; by default its own. */
  mirror?: ChangeId;
  /** Set if the state dict doesn't change. */
  level: Level;
}

/** In the order of the report. */
export const CHANGE_KINDS = {
  architecture: { level: "breaking" },
  "case-added": { mirror: "case-removed", level: "notable" },
  "case-removed": { mirror: "case-added", level: "notable" },
  "input-added": { mirror: "input-removed", level: "breaking" },
  "input-removed": { mirror: "input-added", level: "breaking" },
  "input-renamed": { level: "breaking" },
  "input-dtype": { level: "notable" },
  "example-input": { level: "detail" },
  "output-added": { mirror: "output-removed", level: "breaking" },
  "output-removed": { mirror: "output-added", level: "breaking" },
  "output-renamed": { level: "breaking" },
  "output-shape": { level: "notable" },
  "output-dtype": { level: "notable" },
  "output-rewired": { level: "notable" },
  repeats: { level: "notable" },
  calls: { level: "notable" },
  size: { level: "notable" },
  replaced: { level: "notable" },
  added: { mirror: "removed", level: "notable" },
  removed: { mirror: "added", level: "notable" },
  merged: { mirror: "split", level: "notable" },
  split: { mirror: "merged", level: "notable" },
  wrapped: { mirror: "unwrapped", level: "detail" },
  unwrapped: { mirror: "wrapped", level: "detail" },
  moved: { level: "notable" },
  reordered: { level: "notable" },
  "residual-added": { mirror: "residual-removed", level: "notable" },
  "residual-removed": { mirror: "residual-added", level: "notable" },
  argument: { level: "notable" },
  "op-argument": { level: "notable" },
  "op-replaced": { level: "notable" },
  "op-added": { mirror: "op-removed", level: "notable" },
  "op-removed": { mirror: "op-added", level: "notable" },
  "op-order": { level: "notable" },
  rewritten: { level: "notable" },
  rewired: { level: "notable" },
  shared: { mirror: "unshared", level: "notable" },
  unshared: { mirror: "shared", level: "notable" },
  tied: { mirror: "untied", level: "notable" },
  untied: { mirror: "tied", level: "notable" },
  dtype: { level: "notable" },
  frozen: { mirror: "unfrozen", level: "detail" },
  unfrozen: { mirror: "frozen", level: "detail" },
  "weight-added": { mirror: "weight-removed", level: "notable" },
  "weight-removed": { mirror: "weight-added", level: "notable" },
  "weight-kind": { level: "notable" },
  "weight-shape": { level: "notable" },
  renamed: { level: "detail" },
  class: { level: "detail" },
  "op-to-module": { mirror: "module-to-op", level: "detail" },
  "module-to-op": { mirror: "op-to-module", level: "detail" },
  rearranged: { level: "detail" },
  growth: { level: "notable" },
  "named-shape": { level: "notable" },
  "inner-shape": { level: "notable" },
  other: { level: "notable" },
} as const satisfies Record<string, { mirror?: string; level: Level }>;

export type ChangeId = keyof typeof CHANGE_KINDS;

export function kindOf(id: ChangeId): Kind {
  return CHANGE_KINDS[id];
}

/** An item of each graph; null where it has no counterpart. */
export type Place = readonly [DiffItem | null, DiffItem | null];

export interface Fact {
  id: ChangeId;
  /** The subject: a class, an argument, a name. */
  subject: string;
  before: Json;
  after: Json;
  places: Place[];
  /** The fact from which it follows. */
  cause?: Fact;
}

export interface Change {
  id: ChangeId;
  level: Level;
  text: string;
  subject: string;
  before: Json;
  after: Json;
  /** Paths of the modules, with `*` for numbers of list members; for `repeats`, of the lists. */
  where: string[];
  /** Ids of nodes in both graphs; null without a counterpart, "" for the model. */
  places: [string | null, string | null][];
  count: number;
  /** How many more or fewer there are. */
  parameters: number;
  /** Index of the change from which it follows. */
  caused_by: number | null;
}

export class Facts {
  readonly #facts = new Map<string, Fact>();

  add(id: ChangeId, subject: string, values: readonly [Json, Json], place: Place): void {
    const key = JSON.stringify([id, subject, values]);
    const known = this.#facts.get(key);
    if (known === undefined)
      this.#facts.set(key, { id, subject, before: values[0], after: values[1], places: [place] });
    else known.places.push(place);
  }

  all(): Fact[] {
    return [...this.#facts.values()];
  }

  has(...ids: ChangeId[]): boolean {
    return this.all().some(({ id }) => ids.includes(id));
  }

  /** Whether one of these changes is reported for a module, by its path in the first or the second graph. */
  isReported(ids: readonly ChangeId[], at: 0 | 1, path: string): boolean {
    return this.all().some((fact) => ids.includes(fact.id) && fact.places.some((place) => place[at]?.path === path));
  }
}

export const NO_PLACE = [null, null] as const;
