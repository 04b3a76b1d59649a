/**
 * Unfolds graphs as stored in pages, where equal blocks are stored once, as templates. `ir/folding.py` folds them and
 * documents the form. Holes are filled in JSON text: engines replace and parse long texts much faster than they copy
 * small objects.
 */
import type { Steps } from "../shared/slices.js";
import type { GraphData, Json } from "./graph.js";

/** Number of the template, id of the module call, and the values that differ between uses. */
type Use = [number, string, ...Json[]];
type Items = readonly (Json | Use)[];

/** A graph with templates, whose sections are lists of items; or a graph as in its file. */
export type FoldedGraph = GraphData | ({ templates: Items[] } & Record<string, Json>);

const SECTIONS = ["nodes", "adjacency", "hierarchy", "tensors", "parameters", "functions"];
/** Characters that are parsed in one step; takes about 10 ms. */
const TEXT = 2_000_000;
const ID = /\\u0001/g;
const VALUE = /"\\u000([23])(\d+)"/;

/** A graph as in its file. */
export function* unfoldGraph(folded: FoldedGraph): Steps<GraphData> {
  if (!("templates" in folded)) return folded;
  const { templates, ...graph } = folded;
  const made = new Map<number, Template>();
  const textOf = (items: Items): string => items.map(textOfItem).join();
  const textOfItem = (item: Json | Use): string => (isUse(item) ? used(item) : entry(item));
  const used = ([number, id, ...values]: Use): string => {
    const template = made.get(number) ?? pieces(textOf(templates[number] ?? []));
    made.set(number, template);
    return filled(template, id, values);
  };
  for (const name of SECTIONS) if (name in graph) graph[name] = yield* section(name, graph[name] as Items, textOfItem);
  return graph as unknown as GraphData;
}

/** The list of nodes, or another section's entries by key. */
function* section(name: string, items: Items, textOf: (item: Json | Use) => string): Steps<Json> {
  const isList = name === "nodes";
  const parts: Json[] = [];
  let waiting: string[] = [];
  let length = 0;
  const parse = () => {
    const text = waiting.join();
    parts.push(JSON.parse(isList ? `[${text}]` : `{${text}}`));
    waiting = [];
    length = 0;
  };
  for (const item of items) {
    const text = textOf(item);
    waiting.push(text);
    length += text.length;
    if (length < TEXT) continue;
    // making the text takes about as long as parsing it
    yield;
    parse();
    yield;
  }
  yield;
  parse();
  yield;
  // most sections are one part; copying it would cost as much as parsing it
  const [first = null, ...others] = parts;
  if (others.length === 0) return first;
  return isList ? parts.flat() : Object.assign(first as Record<string, Json>, ...others);
}

function isUse(item: Json | Use): item is Use {
  return Array.isArray(item) && typeof item[0] === "number";
}

/** A node, or a key with its value. */
function entry(item: Json): string {
  return Array.isArray(item) ? item.map((part) => JSON.stringify(part)).join(":") : JSON.stringify(item);
}

/** Texts and the holes between them. */
type Template = (string | Hole)[];

interface Hole {
  value: number;
  /** Whether the value is the text of a number. */
  isNumber: boolean;
}

function pieces(text: string): Template {
  const [first = "", ...others] = text.split(VALUE);
  const found: Template = [first];
  for (let i = 0; i < others.length; i += 3)
    found.push({ value: Number(others[i + 1]), isNumber: others[i] === "3" }, others[i + 2] ?? "");
  return found;
}

function filled(template: Template, id: string, values: readonly Json[]): string {
  const name = JSON.stringify(id).slice(1, -1).replaceAll("$", "$$$$");
  return template
    .map((piece) => {
      if (typeof piece === "string") return piece.replace(ID, name);
      const value = values[piece.value];
      return piece.isNumber ? numberIn(value as string) : JSON.stringify(value);
    })
    .join("");
}

/** The text of a number. Inside another template it may be a hole, which becomes a hole for a number. */
function numberIn(text: string): string {
  return text.startsWith("\u0002") ? JSON.stringify(text.replace("\u0002", "\u0003")) : text;
}
