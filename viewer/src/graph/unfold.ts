/**
 * Graphs as pages bring them: equal blocks are stored once, as templates. `html/folding.py` folds, and tells the form.
 * Holes are filled in JSON text, because engines replace and parse long texts much faster than they copy small objects.
 */
import type { GraphData, Json } from "./graph.js";

/** Number of the template, id of the module call, and the values in which uses differ. */
type Use = [number, string, ...Json[]];
type Items = readonly (Json | Use)[];

/** A graph whose sections are lists of items, if it has templates; else a graph as its file has it. */
export type FoldedGraph = GraphData | ({ templates: Items[] } & Record<string, Json>);

const SECTIONS = ["nodes", "adjacency", "hierarchy", "tensors", "parameters", "functions"];
const ID = "\\u0001";
const VALUE = /"\\u0002(\d+)"/;

export function unfolded(folded: FoldedGraph): GraphData {
  if (!("templates" in folded)) return folded;
  const { templates, ...graph } = folded;
  const made = new Map<number, Template>();
  const textOf = (items: Items): string => items.map((item) => (isUse(item) ? used(item) : entry(item))).join();
  const used = ([number, id, ...values]: Use): string => {
    const template = made.get(number) ?? pieces(textOf(templates[number] ?? []));
    made.set(number, template);
    return filled(template, id, values);
  };
  for (const name of SECTIONS) {
    if (!(name in graph)) continue;
    const entries = textOf(graph[name] as Items);
    graph[name] = JSON.parse(name === "nodes" ? `[${entries}]` : `{${entries}}`);
  }
  return graph as unknown as GraphData;
}

function isUse(item: Json | Use): item is Use {
  return Array.isArray(item) && typeof item[0] === "number";
}

/** A node, or a key with its value. */
function entry(item: Json): string {
  return Array.isArray(item) ? item.map((part) => JSON.stringify(part)).join(":") : JSON.stringify(item);
}

/** The text between values' holes, cut at the holes of the id, and in turn with it numbers of values. */
type Template = (string[] | number)[];

function pieces(text: string): Template {
  return text.split(VALUE).map((piece, i) => (i % 2 === 0 ? piece.split(ID) : Number(piece)));
}

function filled(template: Template, id: string, values: readonly Json[]): string {
  const name = JSON.stringify(id).slice(1, -1);
  return template
    .map((piece) => (typeof piece === "number" ? JSON.stringify(values[piece]) : piece.join(name)))
    .join("");
}
