/**
 * Sizes and costs as expressions in named sizes: `B*(T+1)`, `H/32`. `ir/expressions.py` is its twin; `tests/expressions.json`
 * tests both, and `tests/ir/test_expressions.py` compares them.
 *
 * An expression is a polynomial with rational coefficients. Its factors are names of sizes and rounded expressions,
 * `ceil(…)` and `floor(…)`. Two expressions are equal if their polynomials are: then they have the same text.
 */
import { memoByKey } from "./memo.js";

/** A fraction in lowest terms; `below` is positive. */
export interface Rational {
  readonly above: bigint;
  readonly below: bigint;
}

/** Factors and their powers, sorted; a factor is a name, or the text of a rounded expression. */
type Monomial = readonly (readonly [factor: string, power: number])[];

type Term = readonly [monomial: Monomial, coefficient: Rational];

/** Monomials and their coefficients, which are not 0: the highest degree first, then by factors. */
export type Expression = readonly Term[];

/** Values of sizes by their names. */
export type SizeValues = ReadonlyMap<string, number | bigint>;

const NAME = /[\p{L}\p{Nl}\p{No}][\p{L}\p{N}_]*′*/u;
const TOKEN = new RegExp(`\\s*(\\d+|${NAME.source}|[-+*/()])`, "uy");
const ROUNDINGS: ReadonlyMap<string, readonly [string, string]> = new Map([
  ["ceil", ["⌈", "⌉"]],
  ["floor", ["⌊", "⌋"]],
]);
const MOST_NESTED = 50;
const ONE: Rational = { above: 1n, below: 1n };

/** A fraction of whole numbers, the second of which is not 0. */
export function rational(above: bigint, below = 1n): Rational {
  const divisor = gcd(above, below) * (below < 0n ? -1n : 1n);
  return { above: above / divisor, below: below / divisor };
}

/** An expression without names. */
export function constant(number: bigint | Rational): Expression {
  return collected([[[], typeof number === "bigint" ? rational(number) : number]]);
}

/** An expression that is one name. */
export function named(name: string): Expression {
  return [[[[name, 1]], ONE]];
}

export function add(...summands: readonly Expression[]): Expression {
  return collected(summands.flat());
}

export function multiply(a: Expression, b: Expression): Expression {
  return collected(a.flatMap(([m, c]) => b.map(([n, d]): Term => [product(m, n), times(c, d)])));
}

/** The term by which another expression must be multiplied to get this one, if there is one. */
export function ratio(of: Expression, to: Expression): Expression | undefined {
  const [first] = to;
  const candidates = first === undefined ? [] : of.map(([monomial, c]) => divided(monomial, c, first));
  return candidates.find((one) => one !== undefined && writeExpression(multiply(one, to)) === writeExpression(of));
}

function divided(monomial: Monomial, c: Rational, [other, d]: Term): Expression | undefined {
  if (sharedFactors(monomial, other).length !== other.length) return undefined;
  return [[quotient(monomial, other), times(c, rational(d.below, d.above))]];
}

/** The expression rounded up (`ceil`) or down (`floor`) to a whole number. */
export function rounded(rounding: string, inner: Expression): Expression {
  const number = inner.length === 0 ? rational(0n) : inner.length === 1 && inner[0]?.[0].length === 0 && inner[0][1];
  return number ? constant(roundedNumber(rounding, number)) : named(`${rounding}(${writeExpression(inner)})`);
}

/** The names in it, those in rounded parts among them. */
export function namesIn(expression: Expression): Set<string> {
  const factors = expression.flatMap(([monomial]) => monomial.map(([factor]) => factor));
  const names = factors.flatMap((factor) => factor.match(new RegExp(NAME, "gu")) ?? []);
  return new Set(names.filter((name) => !ROUNDINGS.has(name)));
}

/** The value at given sizes, which is a whole number where the expression holds. Throws if a size is missing. */
export function evaluate(expression: Expression, sizes: SizeValues): Rational {
  return expression.reduce((sum, [monomial, coefficient]) => {
    const above = monomial.reduce(
      (found, [f, power]) => found * factorValue(f, sizes) ** BigInt(power),
      coefficient.above,
    );
    return rational(sum.above * coefficient.below + above * sum.below, sum.below * coefficient.below);
  }, rational(0n));
}

/** The same as a number. */
export function valueAt(expression: Expression, sizes: SizeValues): number {
  const { above, below } = evaluate(expression, sizes);
  return Number(above) / Number(below);
}

// -- text -------------------------------------------------------------------------------------------------------------

interface Style {
  times: string;
  minus: string;
  ordered: (factors: Monomial) => Monomial;
  shown: (factor: string) => string;
}

const NORMAL: Style = { times: "*", minus: "-", ordered: (factors) => factors, shown: (factor) => factor };

/** The normal form, which `parseExpression` reads: `B*(T+1)`. */
export function writeExpression(expression: Expression): string {
  return write(expression, NORMAL);
}

/**
 * The text for readers: `B·(T+1)`, `⌈H/32⌉`, `T²`.
 * @param order names in the order in which they stand in products; others follow by the alphabet
 */
export function readable(expression: Expression, order: readonly string[] = []): string {
  const places = new Map(order.map((name, i) => [name, i]));
  const placeOf = (factor: string) => places.get(factor) ?? order.length;
  return write(expression, {
    times: "·",
    minus: "−",
    ordered: (factors) => [...factors].sort(([a], [b]) => placeOf(a) - placeOf(b) || compare(a, b)),
    shown(factor) {
      const [left, right] = ROUNDINGS.get(roundingOf(factor)) ?? ["", ""];
      return left === "" ? factor : `${left}${readable(innerOf(factor), order)}${right}`;
    },
  });
}

function write(terms: Expression, style: Style): string {
  const [first] = terms;
  if (first === undefined) return "0";
  const common = terms.map(([monomial]) => monomial).reduce(sharedFactors);
  // (T+1)/2 has one fraction, and H/32+5 one per term
  const isOneFraction = terms.every(([, { below }]) => below === first[1].below);
  const below = isOneFraction ? first[1].below : 1n;
  const above = isOneFraction ? terms.reduce((found, [, c]) => gcd(found, c.above), 0n) : 1n;
  const outside = rational(below, above);
  const inner = terms.map(([monomial, c]): Term => [quotient(monomial, common), times(c, outside)]);
  const front = [...(above > 1n ? [`${above}`] : []), ...factorTexts(common, style)];
  let text = sumText(inner, style);
  if (inner.length === 1) text = text.replace(/1$/, "") + (front.join(style.times) || "1");
  else if (front.length > 0 || below > 1n) text = [...front, `(${text})`].join(style.times);
  return below > 1n ? `${text}/${below}` : text;
}

/** A sum that begins with a positive term if there is one. */
function sumText(terms: Expression, style: Style): string {
  const isNegative = ([, { above }]: Term) => Number(above < 0n);
  let text = "";
  for (const term of [...terms].sort((a, b) => isNegative(a) - isNegative(b))) {
    const [monomial, { above, below }] = term;
    const factors = factorTexts(monomial, style);
    const number = above < 0n ? -above : above;
    const parts = number !== 1n || factors.length === 0 ? [`${number}`, ...factors] : factors;
    const sign = isNegative(term) ? style.minus : text && "+";
    text += sign + parts.join(style.times) + (below > 1n ? `/${below}` : "");
  }
  return text;
}

function factorTexts(monomial: Monomial, style: Style): string[] {
  return style.ordered(monomial).flatMap(([factor, power]) => {
    const text = style.shown(factor);
    // the normal form has no powers
    if (style === NORMAL) return Array.from({ length: power }, () => text);
    return power > 1 ? text + `${power}`.replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".charAt(Number(digit))) : text;
  });
}

// -- polynomials ------------------------------------------------------------------------------------------------------

function collected(terms: readonly Term[]): Expression {
  const found = new Map<string, Term>();
  for (const [monomial, c] of terms) {
    const key = JSON.stringify(monomial);
    const other = found.get(key)?.[1] ?? rational(0n);
    found.set(key, [monomial, rational(c.above * other.below + other.above * c.below, c.below * other.below)]);
  }
  const degree = (monomial: Monomial) => monomial.reduce((sum, [, power]) => sum + power, 0);
  const kept = [...found.values()].filter(([, { above }]) => above !== 0n);
  return kept.sort(([a], [b]) => degree(b) - degree(a) || compareMonomials(a, b));
}

function compareMonomials(a: Monomial, b: Monomial): number {
  for (const [i, [factor, power]] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    const found = compare(factor, other[0]) || power - other[1];
    if (found !== 0) return found;
  }
  return a.length - b.length;
}

/** By code points, as Python compares. */
function compare(a: string, b: string): number {
  const [own, others] = [[...a], [...b]];
  const at = own.findIndex((char, i) => char !== others[i]);
  return at < 0 ? own.length - others.length : (own[at]?.codePointAt(0) ?? 0) - (others[at]?.codePointAt(0) ?? 0);
}

function powered(powers: ReadonlyMap<string, number>): Monomial {
  return [...powers].filter(([, power]) => power > 0).sort(([a], [b]) => compare(a, b));
}

function product(a: Monomial, b: Monomial): Monomial {
  const powers = new Map(a);
  for (const [factor, power] of b) powers.set(factor, (powers.get(factor) ?? 0) + power);
  return powered(powers);
}

function quotient(a: Monomial, b: Monomial): Monomial {
  return product(
    a,
    b.map(([factor, power]) => [factor, -power]),
  );
}

function sharedFactors(a: Monomial, b: Monomial): Monomial {
  const others = new Map(b);
  return powered(new Map(a.map(([factor, power]) => [factor, Math.min(power, others.get(factor) ?? 0)])));
}

// -- numbers ----------------------------------------------------------------------------------------------------------

function gcd(a: bigint, b: bigint): bigint {
  if (b === 0n) return a < 0n ? -a : a;
  return gcd(b, a % b);
}

function times(a: Rational, b: Rational): Rational {
  return rational(a.above * b.above, a.below * b.below);
}

function roundedNumber(rounding: string, { above, below }: Rational): bigint {
  const rest = ((above % below) + below) % below;
  const floor = (above - rest) / below;
  return rounding === "ceil" && rest !== 0n ? floor + 1n : floor;
}

function roundingOf(factor: string): string {
  return /^\w+(?=\()/.exec(factor)?.[0] ?? "";
}

function innerOf(factor: string): Expression {
  return parseExpression(factor.slice(factor.indexOf("(") + 1, -1));
}

function factorValue(factor: string, sizes: SizeValues): bigint {
  const rounding = roundingOf(factor);
  if (rounding !== "") return roundedNumber(rounding, evaluate(innerOf(factor), sizes));
  const value = sizes.get(factor);
  if (value === undefined) throw new Error(`expected a value of the size ${factor}`);
  return BigInt(value);
}

// -- reading ----------------------------------------------------------------------------------------------------------

/**
 * Reads an expression: whole numbers, names, `+ - * /`, brackets, `ceil(…)` and `floor(…)`; `/` by numbers.
 * Throws for any other text.
 */
export const parseExpression = memoByKey((text: string): Expression => {
  const tokens = tokensOf(text);
  const found = readSum({ text, tokens }, 0);
  if (tokens.length > 0) throw problem(text, `expected its end or an operator, got ${tokens[0]}`);
  return found;
});

interface Reading {
  text: string;
  /** Those that were not read yet. */
  tokens: string[];
}

function problem(text: string, words: string): Error {
  return new Error(`"${text}" is no expression of sizes such as "B*(T+1)": ${words}`);
}

function tokensOf(text: string): string[] {
  const [found, end]: [string[], number] = [[], text.trimEnd().length];
  for (let at = 0; at < end; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined)
      throw problem(text, `expected a number, a name or one of + - * / ( ), got ${text.slice(at).trim()}`);
    found.push(token);
  }
  return found;
}

function readSum(reading: Reading, depth: number): Expression {
  const signed = (isNegative: boolean, found: Expression) => (isNegative ? multiply(found, constant(-1n)) : found);
  let found = signed(skip(reading, "-"), readProduct(reading, depth));
  while (/^[-+]/.test(reading.tokens[0] ?? ""))
    found = add(found, signed(reading.tokens.shift() === "-", readProduct(reading, depth)));
  return found;
}

function readProduct(reading: Reading, depth: number): Expression {
  let found = readFactor(reading, depth);
  for (;;) {
    if (skip(reading, "*")) found = multiply(found, readFactor(reading, depth));
    else if (skip(reading, "/")) {
      const divisor = reading.tokens.shift() ?? "its end";
      if (!/^\d*[1-9]\d*$/.test(divisor))
        throw problem(reading.text, `expected a whole number after /, got ${divisor}`);
      found = multiply(found, constant(rational(1n, BigInt(divisor))));
    } else return found;
  }
}

function readFactor(reading: Reading, depth: number): Expression {
  if (depth > MOST_NESTED) throw problem(reading.text, `expected at most ${MOST_NESTED} brackets inside each other`);
  const symbol = reading.tokens.shift() ?? "its end";
  if (/^\d/.test(symbol)) return constant(BigInt(symbol));
  if (symbol === "(" || (ROUNDINGS.has(symbol) && skip(reading, "("))) {
    const inner = readSum(reading, depth + 1);
    const end = reading.tokens.shift() ?? "its end";
    if (end !== ")") throw problem(reading.text, `expected ), got ${end}`);
    return symbol === "(" ? inner : rounded(symbol, inner);
  }
  if (/^[-+*/)]|^its end$/.test(symbol)) throw problem(reading.text, `expected a number, a name or (, got ${symbol}`);
  return named(symbol);
}

function skip({ tokens }: Reading, symbol: string): boolean {
  if (tokens[0] !== symbol) return false;
  tokens.shift();
  return true;
}
