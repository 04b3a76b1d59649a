/** What comparisons conclude from names and values. */
import type { Json } from "../graph/graph.js";
import { familyMatch } from "../view/labels/family_words.js";

const PLUMBING =
  /^(view|view_as|reshape|permute|transpose|contiguous|getitem|unsqueeze|squeeze|expand|expand_as|flatten|unflatten|t|T|mT|chunk|split|unbind|size|to|type|type_as|float|half|bfloat16|repeat|movedim|swapaxes|detach|clone|broadcast_to|narrow|select|identity|Identity|alias)$/;

/** Whether an op only rearranges its input. */
export function isPlumbing(label: string): boolean {
  return PLUMBING.test(label);
}

const RESHAPING = /^(view|view_as|reshape|flatten|unflatten|squeeze|unsqueeze)$/;
const PERMUTING = /^(permute|transpose|swapaxes|swapdims)$/;

/** Whether an op returns all values of its input once, in the same order. */
export function isReshaping(label: string): boolean {
  return RESHAPING.test(label);
}

/** Whether an op permutes axes. */
export function isPermuting(label: string): boolean {
  return PERMUTING.test(label);
}

/** Whether an op returns all values of its input once. */
export function isRearranging(label: string): boolean {
  return isReshaping(label) || isPermuting(label);
}

/** Whether two names belong to one family of layers that can replace each other. */
export function areOfOneFamily(a: string, b: string): boolean {
  const family = familyMatch(a).family;
  return family !== "other" && family !== "elementwise" && family !== "shape" && family === familyMatch(b).family;
}

/** `0`, `layer_3`, `block1`: the name of a member of a list. */
export function isNumbered(name: string): boolean {
  return /(^|\.)(\d+|\w*[a-z_]\d+)$/i.test(name);
}

/** A name without its number: `layers.0` → `layers`, `layer_3` → `layer_`. */
export function stemOf(name: string): string {
  return name.replace(/\.?\d+$/, "");
}

/** A path with `*` for numbers of list members. */
export function patternOf(path: string): string {
  return path
    .replace(/#\d+$/, "")
    .replace(/\[\d+\]/g, "[*]")
    .replace(/(?<=^|\.|_)\d+(?=$|\.)/g, "*");
}

export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

/** Equal for weights of one name in sibling modules. */
export function besidesOf(key: string): string {
  const end = key.lastIndexOf(".");
  return `${key.slice(0, Math.max(0, key.lastIndexOf(".", end - 1)))} ${key.slice(end + 1)}`;
}

/** Whether two values of an argument are equivalent: `1` and `[1, 1]`, or numbers that were rounded differently. */
export function isSameValue(a: Json, b: Json): boolean {
  const [x, y] = [repeatedValue(a), repeatedValue(b)];
  if (typeof x === "number" && typeof y === "number") return Math.abs(x - y) <= ROUNDED * Math.abs(x);
  return JSON.stringify(x) === JSON.stringify(y);
}

const ROUNDED = 1e-6;

/** The number that a list repeats; other values unchanged. */
export function repeatedValue(value: Json): Json {
  const first = Array.isArray(value) ? value[0] : undefined;
  return typeof first === "number" && (value as Json[]).every((one) => one === first) ? first : value;
}

/** Paths and those of everything around them, innermost first. */
export function holders(paths: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const path of paths) {
    found.add(path);
    for (let at = path.lastIndexOf("."); at > 0; at = path.lastIndexOf(".", at - 1)) found.add(path.slice(0, at));
  }
  return found;
}

/** Whether two names have a word in common. */
export function shareWord(a: string, b: string): boolean {
  const words = (text: string) => text.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  const known = new Set(words(a));
  return words(b).some((word) => known.has(word));
}
