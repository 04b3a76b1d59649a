/** The data of a catalogue, and what searching, sorting and drawing read from it again and again. */
import { each, type Steps } from "../../shared/slices.js";

/** As in the catalogue's data script; fields that are empty, 0 or false may be absent, and so are unknown numbers. */
export interface CatalogueData {
  groupBy: "family" | "module" | "none";
  /** Short names of all module classes, and of all ops. */
  layers: string[];
  ops: string[];
  /** Combinations of layers and ops, as numbers. */
  uses: [number[], number[]][];
  families: FamilyData[];
  models: ModelData[];
}

export interface FamilyData {
  name: string;
  class?: string;
  module?: string;
  /** What differs between the models: titles, and one row for each model. */
  columns?: string[];
  rows?: string[][];
  models: number[];
}

export interface ModelData {
  name: string;
  /** Of its diagram. */
  id: string;
  page?: string;
  parameters?: number;
  flops?: number;
  flopsSign?: string;
  activations?: number;
  activationsSign?: string;
  inputs?: string;
  assumed?: boolean;
  since?: string;
  uses?: number;
  picture?: string;
  aliases?: string[];
  problem?: string;
}

export interface Model extends ModelData {
  entry: Entry;
  /** The last part of the name, by which readers know it. */
  shortName: string;
  /** All names, in lower case: what words of a query are looked for in. */
  text: string;
  /** The position of its combination of layers and ops; -1 if they are not known. */
  combination: number;
}

/** A family: one card. */
export interface Entry {
  number: number;
  data: FamilyData;
  models: Model[];
  /** Sorts names as people do: `resnet9` before `resnet18`. */
  key: string;
}

export interface Listing {
  data: CatalogueData;
  entries: Entry[];
  models: Model[];
  /** Numbers of models by name. */
  modules: Map<string, number>;
  families: Map<string, number>;
}

/** Read the data in steps: there may be tens of thousands of models. */
export function* listed(data: CatalogueData): Steps<Listing> {
  const entries: Entry[] = [];
  const models: Model[] = [];
  const [modules, families] = [new Map<string, number>(), new Map<string, number>()];
  yield* each(data.families.entries(), ([number, family]) => {
    const entry: Entry = { number, data: family, models: [], key: sortKey(family.name) };
    for (const at of family.models) {
      const model = data.models[at];
      if (model !== undefined) entry.models.push(modelOf(model, entry));
    }
    models.push(...entry.models);
    entries.push(entry);
    const { module = "", name } = family;
    modules.set(module, (modules.get(module) ?? 0) + entry.models.length);
    families.set(name, (families.get(name) ?? 0) + entry.models.length);
  });
  return { data, entries, models, modules, families };
}

function modelOf(data: ModelData, entry: Entry): Model {
  const { name, class: className = "" } = entry.data;
  const text = [data.name, ...(data.aliases ?? []), name, className].join("\n").toLowerCase();
  const combination = data.parameters === undefined ? -1 : (data.uses ?? 0);
  return { ...data, entry, text, combination, shortName: data.name.slice(data.name.lastIndexOf(".") + 1) };
}

/** A text that sorts like its numbers: `1.10` after `1.9`. */
export function sortKey(text: string): string {
  return text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(9, "0"));
}
