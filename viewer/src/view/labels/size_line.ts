/** What the names of sizes in a picture mean: `B batch · H×W image, 224×224 here, multiples of 32 · N = H·W/256`. */

import type { NamedSizes, Size } from "../../../generated/format.js";
import type { GraphIndex } from "../../graph/graph.js";
import { shortName } from "../../graph/names.js";
import { namesIn, parseExpression } from "../../shared/expressions.js";
import { memoByObject } from "../../shared/memo.js";
import { fill, strings } from "../../shared/strings.js";
import type { Frame } from "../frame.js";
import { sizeText } from "./size_words.js";

/** The name of a weight; a longer limit is a model's message, which the details have. */
const NAME_OF_LIMIT = /^[\w.]{1,40}$/;
const WORD = /[\p{L}\p{N}_]+′*/gu;

/** A part for each size, letter and count that the texts of a picture have. */
export function sizeLine(index: GraphIndex, root: Frame): string[] {
  const { sizes } = index.graph;
  if (sizes == null) return [];
  const shown = explained(sizes, wordsIn(root));
  const listed = Object.entries(sizes.sizes).filter(([name, { fixed }]) => !fixed && shown.has(name));
  const letters = Object.keys(sizes.letters ?? {}).filter((letter) => shown.has(letter));
  return [
    ...sizeParts(listed.filter(([, { counted }]) => !counted)),
    ...letters.map((letter) => letterPart(sizes, letter)),
    ...listed.filter(([, { counted }]) => counted).map(([name, size]) => countedPart(index, sizes, name, size)),
  ];
}

/** Toggling leaves most containers unchanged. */
const wordsIn = memoByObject(({ wires, items }: Frame): ReadonlySet<string> => {
  const texts = [
    ...wires.map(({ label }) => label),
    ...items.flatMap(({ name, detail, count = "" }) => [name, detail, count]),
  ];
  const found = new Set(texts.flatMap((text) => text.match(WORD) ?? []));
  for (const { frame } of items) if (frame !== null) for (const word of wordsIn(frame)) found.add(word);
  return found;
});

/** Also the names that explain names. */
function explained({ sizes, letters = {} }: NamedSizes, words: ReadonlySet<string>): ReadonlySet<string> {
  const meanings = [
    ...Object.entries(letters),
    ...Object.entries(sizes).flatMap(([name, { bound }]) => (bound ? [[name, bound] as const] : [])),
  ];
  const inside = meanings.flatMap(([name, text]) => (words.has(name) ? [...namesIn(parseExpression(text))] : []));
  return new Set([...words, ...inside]);
}

type Named = readonly [name: string, size: Size];

/** Height and width of one image are one part. */
function sizeParts(sizes: readonly Named[]): string[] {
  return sizes.flatMap((one, i) => {
    if (isImage(sizes[i - 1], one)) return [];
    const next = sizes[i + 1];
    return [
      isImage(one, next) && next !== undefined ? partOf([one, next], strings.image) : partOf([one], one[1].meaning),
    ];
  });
}

function isImage(height: Named | undefined, width: Named | undefined): boolean {
  if (height?.[1].meaning !== "height" || width?.[1].meaning !== "width") return false;
  return limitsOf(height[1]).join() === limitsOf(width[1]).join();
}

function partOf(named: readonly Named[], meaning = ""): string {
  const [[, size]] = named as [Named];
  const name = named.map(([one]) => one).join("×");
  // batches of any size are alike
  if (meaning === "batch") return [`${name} ${meaning}`, ...limitsOf(size)].join(", ");
  const here = fill(strings.here, named.map(([, { size }]) => size).join("×"));
  return [`${name} ${meaning}`.trim(), here, ...limitsOf(size)].join(", ");
}

/** `multiples of 32`, `at most 512 (position_embeddings)`. */
export function limitsOf({ multiple_of: step = 1, remainder = 0, at_most: most, limit = "" }: Size): string[] {
  const steps = remainder === 0 ? fill(strings.multiples, step) : fill(strings.multiplesPlus, step, remainder);
  const why = NAME_OF_LIMIT.test(limit) ? ` (${limit})` : "";
  return [
    ...(step > 1 ? [steps] : []),
    ...(most == null ? [] : [limit ? fill(strings.atMost, most) + why : fill(strings.checkedTo, most)]),
  ];
}

export function letterPart(sizes: NamedSizes, letter: string): string {
  const text = sizeText({ ...sizes, letters: {} }, sizes.letters?.[letter] ?? "");
  return `${letter} = ${text}`;
}

export function countedPart({ nodes }: GraphIndex, sizes: NamedSizes, name: string, size: Size): string {
  const node = nodes.get(size.counted ?? "");
  const by = node?.kind === "op" ? shortName(node.name) : (size.counted ?? "");
  const most = size.bound ? [fill(strings.atMost, sizeText(sizes, size.bound))] : [];
  return [`${name} ${fill(strings.pickedBy, by)}`, ...most].join(", ");
}
