/** Which numbers a size can be: as in `ir/chosen_sizes.py`. */
import type { NamedSizes, Size } from "../../generated/format.js";
import { completeSizes, ownSizes } from "../graph/at_sizes.js";
import { evaluate, namesIn, parseExpression, readable } from "../shared/expressions.js";
import { words } from "../shared/size_strings.js";
import { fill } from "../shared/strings.js";

/** Largest number that a reader can enter. */
const MOST = 1e12;

/** A size that a reader can set. */
export interface FreeSize {
  name: string;
  /** As in the pass. */
  size: Size;
}

/** The sizes that readers can set: those of inputs that can change. */
export function freeSizes(named: NamedSizes): FreeSize[] {
  const known = ownSizes(named);
  return Object.entries(named.sizes).flatMap(([name, size]) =>
    known.has(name) && !size.counted ? [{ name, size }] : [],
  );
}

/** Why a size can't be what a reader entered; empty if it can. */
export function refusal({ name, size }: FreeSize, entered: string): string {
  const problem = problemOf(size, entered);
  return problem === "" ? "" : fill(words.refused, name, entered.trim(), problem);
}

function problemOf(size: Size, entered: string): string {
  const number = numberIn(entered);
  if (number === undefined) return fill(words.notWhole, size.size);
  const { at_most: most, limit = "", at_least: least = 1, multiple_of: step = 1, remainder = 0 } = size;
  if (number === size.size) return "";
  if (most != null && number > most)
    return limit ? `${fill(words.takesAtMost, most)} (${limit})` : fill(words.checkedOnlyTo, most);
  if (number < least) return fill(words.takesFrom, least);
  const low = floored(size, number);
  if (low === number) return "";
  const near = [low, low + step].filter((one) => one >= least && (most == null || one <= most));
  const nearest = fill(near.length > 1 ? words.nearestTwo : words.nearest, ...near);
  return remainder === 0 ? fill(words.holdsFor, step, nearest) : fill(words.holdsForMore, step, remainder, nearest);
}

/** Why sizes can't stand together, each of which can be alone; empty if they can: `H*W/256` must be whole. */
export function refusalTogether(named: NamedSizes, given: ReadonlyMap<string, number>): string {
  const sizes = completeSizes(named, given);
  const texts = new Set(Object.values(named.tensors ?? {}).flat());
  for (const text of texts) {
    const expression = parseExpression(text ?? "0");
    if (evaluate(expression, sizes).below === 1n) continue;
    const names = namesIn(expression);
    const together = [...sizes].filter(([name]) => names.has(name)).map((pair) => pair.join(" = "));
    return fill(words.notTogether, together.join(", "), readable(expression));
  }
  return "";
}

/** The whole number in a text. */
export function numberIn(entered: string): number | undefined {
  const text = entered.trim();
  return /^\d+$/.test(text) && Number(text) <= MOST ? Number(text) : undefined;
}

/** The number that the model takes next to another one, upwards or downwards; at the end, the last. */
export function nextSize(size: Size, number: number, isUp: boolean): number {
  const low = floored(size, number);
  const { multiple_of: step = 1 } = size;
  return within(size, isUp ? low + step : low < number ? low : low - step);
}

/** The largest number that the model takes and that is at most this one, but not below the smallest. */
export function snapped(size: Size, number: number): number {
  return within(size, floored(size, number));
}

/** @param number that the expressions hold for */
function within(size: Size, number: number): number {
  const { at_most: most, at_least: least = 1, multiple_of: step = 1 } = size;
  const high = floored(size, Math.min(most ?? MOST, MOST));
  const low = floored(size, least);
  return Math.max(low < least ? low + step : low, Math.min(high, number));
}

function floored({ multiple_of: step = 1, remainder = 0 }: Size, number: number): number {
  return number - ((((number - remainder) % step) + step) % step);
}

// -- in links ---------------------------------------------------------------------------------------------------------

/** `T:8192/B:4` */
export function sizesText(sizes: ReadonlyMap<string, number>): string {
  return [...sizes].map((pair) => pair.join(":")).join("/");
}

/** The sizes in a text; those that are unknown or refused are left out, and said. */
export function readSizes(named: NamedSizes, text: string): { sizes: Map<string, number>; refused: string[] } {
  const known = new Map(freeSizes(named).map((free) => [free.name, free]));
  const sizes = new Map<string, number>();
  const refused: string[] = [];
  for (const part of text.split("/").filter(Boolean)) {
    const [name = "", entered = ""] = part.split(":");
    const free = known.get(name);
    const problem = free === undefined ? "" : refusal(free, entered);
    if (free !== undefined && problem === "") sizes.set(name, numberIn(entered) ?? free.size.size);
    else if (problem !== "") refused.push(problem);
  }
  const problem = refusalTogether(named, sizes);
  return problem === "" ? { sizes, refused } : { sizes: new Map(), refused: [...refused, problem] };
}
