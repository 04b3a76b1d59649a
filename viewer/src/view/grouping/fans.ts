/**
 * Fans: many modules of one class side by side, such as tables of an embedding for each feature. They differ in size, so
 * they are no run; but a bundle may hold them all, with the ops that only prepare their inputs, and nothing that reads them.
 */
import { append } from "../../graph/append.js";
import type { Contents, GraphIndex } from "../../graph/graph.js";
import { shortName } from "../../graph/names.js";
import { rangeName } from "../labels/group_names.js";
import { nodeWords } from "../labels/labels.js";

/** Fewest modules of a fan: as many heads are still worth their names. */
const FEWEST = 8;

/** A module of a fan, and the ops that only prepare its inputs. */
export interface Blade {
  id: string;
  before: string[];
}

/** The fans among some children of a container, the largest first. */
export function fansIn(index: GraphIndex, { links }: Contents, children: readonly string[]): Blade[][] {
  const byClass = new Map<string, string[]>();
  for (const id of children) {
    const node = index.nodes.get(id);
    if (node?.kind === "module") append(byClass, node.class, id);
  }
  const readers = new Map<string, Set<string>>();
  const sources = new Map<string, Set<string>>();
  for (const { from, to } of links) {
    if (from !== null) readers.set(from, (readers.get(from) ?? new Set()).add(to ?? ""));
    if (from !== null && to !== null) sources.set(to, (sources.get(to) ?? new Set()).add(from));
  }
  const isOwnOp = (id: string, reader: string) => {
    const only = [...(readers.get(id) ?? [])];
    return index.nodes.get(id)?.kind === "op" && only.length === 1 && only[0] === reader && children.includes(id);
  };
  const fans = [...byClass.values()].filter((ids) => ids.length >= FEWEST && areBeside(readers, ids));
  const blade = (id: string): Blade => ({ id, before: [...(sources.get(id) ?? [])].filter((one) => isOwnOp(one, id)) });
  return fans.map((ids) => ids.map(blade)).sort((a, b) => b.length - a.length);
}

/** Whether none of them depends on another. */
function areBeside(readers: ReadonlyMap<string, ReadonlySet<string>>, ids: readonly string[]): boolean {
  const members = new Set(ids);
  const later = new Set(ids.flatMap((id) => [...(readers.get(id) ?? [])]));
  // iterating a set includes elements added meanwhile
  for (const id of later) {
    if (members.has(id)) return false;
    for (const reader of readers.get(id) ?? []) later.add(reader);
  }
  return true;
}

const NUMBER = /\d+(?:\.\d+)?/g;

/** `embs.0–25` and `EmbeddingBag ×26, 10 … 1000000 × 16`. */
export function fanWords(index: GraphIndex, members: readonly string[]): { name: string; content: string } {
  const nodes = members.map((id) => index.nodes.get(id)).filter((node) => node !== undefined);
  const [first] = nodes;
  const name = first?.kind === "module" ? shortName(first.class) : "";
  const details = nodes.map((node) => nodeWords(index, node).detail);
  const rest = sizesOf(details.map((detail) => detail.replace(name, "").trim()));
  return { name: rangeName(index, members), content: `${name} ×${members.length}${rest && `, ${rest}`}` };
}

/** Texts that only differ in numbers as one, with the least and the greatest of each; else nothing. */
function sizesOf(texts: readonly string[]): string {
  const [first = ""] = texts;
  if (texts.some((text) => text.replace(NUMBER, "#") !== first.replace(NUMBER, "#"))) return "";
  const numbers = texts.map((text) => (text.match(NUMBER) ?? []).map(Number));
  let at = -1;
  return first.replace(NUMBER, (own) => {
    at += 1;
    const values = numbers.map((row) => row[at] ?? 0);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return least === most ? own : `${least} … ${most}`;
  });
}
