/** Sizes in texts. Where a graph has names for them, `B×(T+1)×768` instead of `2×17×768`. */

import type { NamedSizes } from "../../../generated/format.js";
import type { GraphIndex, Json, OpNode, TensorSpec } from "../../graph/graph.js";
import { withArguments } from "../../graph/size_names.js";
import {
  add,
  type Expression,
  multiply,
  named,
  namesIn,
  parseExpression,
  ratio,
  readable,
  valueAt,
} from "../../shared/expressions.js";
import { memoByObject } from "../../shared/memo.js";

/** What a graph's named sizes say of its texts. */
interface Words {
  arguments: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** An expression for readers. */
  text(expression: string): string;
}

const wordsOf = memoByObject((sizes: NamedSizes): Words => {
  const letters = Object.entries(sizes.letters ?? {}).map(([letter, text]) => [letter, parseExpression(text)] as const);
  const order = [...Object.keys(sizes.sizes), ...letters.map(([letter]) => letter)];
  const known = new Map<string, string>();
  return {
    arguments: new Map(Object.entries(sizes.arguments ?? {})),
    text(expression) {
      const text = known.get(expression) ?? readable(abbreviated(parseExpression(expression), letters), order);
      known.set(expression, text);
      return text;
    },
  };
});

/** An expression of a graph's sizes for readers, with its letters: `N+5`. */
export function sizeText(sizes: NamedSizes, expression: string): string {
  return wordsOf(sizes).text(expression);
}

/** Puts letters for expressions that are the whole, a factor, or a term of it. */
function abbreviated(whole: Expression, letters: readonly (readonly [string, Expression])[]): Expression {
  const factors = letters.flatMap(([letter, stands]) => {
    const factor = ratio(whole, stands);
    return factor !== undefined && isFactor(factor) ? [multiply(factor, named(letter))] : [];
  });
  // a letter alone before a multiple of another
  const [best] = factors.sort((a, b) => degreeOf(a) - degreeOf(b));
  if (best !== undefined) return best;
  return whole.length > 1 ? add(...whole.map((term) => abbreviated([term], letters))) : whole;
}

/** Whether it is 1, or a whole number with names: `4·N` for `H·W/64` says less than that. */
function isFactor([term]: Expression): boolean {
  if (term === undefined) return false;
  const [monomial, { above, below }] = term;
  return below === 1n && (above === 1n || monomial.length > 0);
}

function degreeOf([term]: Expression): number {
  return term === undefined ? 0 : term[0].length + (term[1].above === 1n ? 0 : 1);
}

/** `2×16×768`, or with names `B×T×768`; `scalar` without dimensions, empty if it is unknown. */
export function shapeText({ graph }: GraphIndex, spec: TensorSpec): string {
  const dimensions = spec.shape?.map((_, i) => dimensionText(graph, spec, i) ?? "");
  if (dimensions === undefined) return "";
  return dimensions.length === 0
    ? "scalar"
    : (dimensions.length > 1 ? dimensions.map(factorText) : dimensions).join("×");
}

/** A dimension by its name, or its number. */
export function dimensionText(
  { sizes }: GraphIndex["graph"],
  { shape, names }: TensorSpec,
  dimension: number,
): string | undefined {
  const expression = names?.[dimension];
  return sizes && expression ? sizeText(sizes, expression) : shape?.[dimension]?.toString();
}

/** An expression as a factor: a sum stands in brackets. */
export function factorText(text: string): string {
  let inside = text;
  for (let before = ""; before !== inside; ) {
    before = inside;
    inside = inside.replace(/\([^()⌈⌉⌊⌋]*\)|⌈[^()⌈⌉⌊⌋]*⌉|⌊[^()⌈⌉⌊⌋]*⌋/, "");
  }
  return /[+−]/.test(inside) ? `(${text})` : text;
}

/** Whether values decide a size of a tensor, and it has a name. */
export function isCounted({ graph: { sizes } }: GraphIndex, { names: expressions = [] }: TensorSpec): boolean {
  const counted = Object.entries(sizes?.sizes ?? {}).filter(([, size]) => size.counted);
  if (counted.length === 0) return false;
  const names = expressions.flatMap((text) => (text === null ? [] : [...namesIn(parseExpression(text))]));
  return counted.some(([name]) => names.includes(name));
}

/** An op's arguments, with names in place of numbers: `[B, T, 768]`. */
export function argumentsOf({ graph: { sizes } }: GraphIndex, node: OpNode): Readonly<Record<string, Json>> {
  const places = sizes && wordsOf(sizes).arguments.get(node.id);
  return places ? withArguments(node, places, (expression) => sizeText(sizes, expression)) : (node.arguments ?? {});
}

/** `×T` on a loop that sizes decide or, at other sizes than those of the pass, `×32`; nothing for others. */
export function loopCount({ graph }: GraphIndex, member = "", times: number): { count?: string } {
  const { sizes, atSizes } = graph;
  const [now, calls = 1] = [atSizes?.times.get(member), atSizes?.calls.get(member)];
  const expression = sizes?.times?.[member];
  const own = now === undefined ? expression && numberAt(sizes, expression) : now / calls;
  // some calls of a loop may differ from the others
  if (own === times && sizes && expression) return { count: `×${factorText(sizeText(sizes, expression))}` };
  if (now === undefined || calls === 1) return {};
  return { count: own === times ? `×${now}` : `≈ ×${Math.round(times * calls)}` };
}

function numberAt({ sizes }: NamedSizes, expression: string): number {
  const own = new Map(Object.entries(sizes).map(([name, { size }]) => [name, size]));
  return valueAt(parseExpression(expression), own);
}
