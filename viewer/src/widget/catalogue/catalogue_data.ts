/** The data of a catalogue, and what searching, sorting and drawing read from it again and again. */
import { each, type Steps } from "../../shared/slices.js";

/** As `html/catalogue_data.py` writes it: what is empty or unknown is absent. */
export interface CatalogueData {
  groupBy: "family" | "module" | "none";
  /** Short names of all module classes, and of all ops. */
  layers: string[];
  ops: string[];
  /** Combinations of layers and ops, as numbers. */
  uses: [layers: number[], ops: number[]][];
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
  /** Absent without a diagram. */
  parameters?: number;
  flops?: number;
  flopsSign?: string;
  activations?: number;
  activationsSign?: string;
  inputs?: string;
  assumed?: boolean;
  since?: string;
  uses?: number;
  /** The name of its file, or whether it has its own. */
  picture?: string | true;
  aliases?: string[];
  problem?: string;
}

export interface Model extends Omit<ModelData, "picture"> {
  /** The last part of the name, by which readers know it. */
  shortName: string;
  /** All names, in lower case: where words of a query are looked for. */
  text: string;
  /** The name of its picture's file. */
  picture?: string | undefined;
  /** Cells of the table of what differs. */
  row: string[];
}

/** A family: one card. */
export interface Entry {
  data: FamilyData;
  models: Model[];
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

/** Parse the data's lines in steps: a head, and parts of the lists of families and models. */
export function* parsedLines(text: string): Steps<CatalogueData> {
  const families: FamilyData[] = [];
  const models: ModelData[] = [];
  const [head = "", ...parts] = text.split("\n");
  for (const line of parts) {
    const part: Partial<CatalogueData> = JSON.parse(line);
    families.push(...(part.families ?? []));
    models.push(...(part.models ?? []));
    yield;
  }
  return { ...JSON.parse(head), families, models };
}

/** Read the data in steps: there may be tens of thousands of models. */
export function* listed(data: CatalogueData): Steps<Listing> {
  const listing: Listing = { data, entries: [], models: [], modules: new Map(), families: new Map() };
  yield* each(data.families, (family) => {
    const models = family.models.flatMap((at, i) => {
      const model = data.models[at];
      return model === undefined ? [] : [modelOf(model, family, family.rows?.[i] ?? [])];
    });
    listing.entries.push({ data: family, models, key: sortKey(family.name) });
    listing.models.push(...models);
    count(listing.families, family.name, models.length);
    if (family.module) count(listing.modules, family.module, models.length);
  });
  return listing;
}

function modelOf(data: ModelData, { name, class: className = "" }: FamilyData, row: string[]): Model {
  const text = [data.name, ...(data.aliases ?? []), name, className].join("\n").toLowerCase();
  const picture = data.picture === true ? `${data.id}.card.svg` : data.picture;
  return { ...data, picture, text, row, shortName: data.name.slice(data.name.lastIndexOf(".") + 1) };
}

function count(counts: Map<string, number>, name: string, more: number): void {
  counts.set(name, (counts.get(name) ?? 0) + more);
}

/** A text that sorts as people do: `resnet18` after `resnet9`, `1.10` after `1.9`. */
export function sortKey(text: string): string {
  return text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(9, "0"));
}
