import { describe, expect, it } from "vitest";
import {
  add,
  constant,
  evaluate,
  multiply,
  namesIn,
  parseExpression,
  rational,
  readable,
  writeExpression,
} from "../../src/shared/expressions.js";
import { dice } from "../random_plans.js";

interface Table {
  texts: [text: string, normal: string, readable: string][];
  ordered: [text: string, order: string[], readable: string][];
  values: [text: string, sizes: Record<string, number>, value: [above: number | string, below: number]][];
  wrong: string[];
}

const table = (await import("../../../tests/expressions.json")).default as unknown as Table;

const NAMES = ["B", "T", "H", "W′", "n₁"];
const SIZES = new Map(NAMES.map((name, i) => [name, [3, 10007, 224, 5, 97][i] ?? 0]));

/** Random sums and products, each part of which may be in any order. */
function randomText(roll: (below: number) => number, depth: number): string {
  if (depth === 0) return NAMES[roll(9)] ?? `${roll(1000)}`;
  const [a, b] = [randomText(roll, depth - 1), randomText(roll, depth - 1)];
  const forms = [`${a}*(${b})`, `(${a}-(${b}))`, `(${a}+${b})`, `(${a})/${roll(96) + 1}`, `floor(${a}/7)*(${b})`];
  return forms[roll(6)] ?? `ceil(${a}-(${b})/3)`;
}

const texts = Array.from({ length: 300 }, (_, seed) => randomText(dice(seed), 1 + (seed % 4)));

describe("expressions", () => {
  it("have the texts that Python writes", () => {
    for (const [text, normal, shown] of table.texts)
      expect([writeExpression(parseExpression(text)), readable(parseExpression(text))]).toEqual([normal, shown]);
    for (const [text, order, shown] of table.ordered) expect(readable(parseExpression(text), order)).toBe(shown);
  });

  it("have the values that Python computes, however large", () => {
    for (const [text, sizes, [above, below]] of table.values) {
      const value = evaluate(parseExpression(text), new Map(Object.entries(sizes)));
      expect(value).toEqual(rational(BigInt(above), BigInt(below)));
    }
  });

  it.each(table.wrong)("are not %j", (text) => {
    expect(() => parseExpression(text)).toThrow(`"${text}" is no expression of sizes`);
  });

  it("are read from their text as they were", () => {
    for (const text of texts) {
      const read = parseExpression(text);
      expect(parseExpression(writeExpression(read))).toEqual(read);
    }
  });

  it("add and multiply as numbers do", () => {
    for (const [i, text] of texts.entries()) {
      const [a, b] = [parseExpression(text), parseExpression(texts.at(i - 1) ?? "")];
      const [x, y] = [evaluate(a, SIZES), evaluate(b, SIZES)];
      const sum = rational(x.above * y.below + y.above * x.below, x.below * y.below);
      expect(evaluate(add(a, b), SIZES)).toEqual(sum);
      expect(evaluate(multiply(a, b), SIZES)).toEqual(rational(x.above * y.above, x.below * y.below));
    }
  });

  it("are equal in whatever order they are computed", () => {
    for (const [i, text] of texts.entries()) {
      const [a, b, c] = [text, texts.at(i - 1), texts.at(i - 2)];
      const distributed = parseExpression(`(${c})*(${a})+(${b})*(${c})`);
      expect(writeExpression(parseExpression(`((${a})+(${b}))*(${c})`))).toBe(writeExpression(distributed));
      expect(writeExpression(parseExpression(`(${a})-(${b})+(${c})-(${a})+(${b})-(${c})`))).toBe("0");
    }
  });

  it("know their names, and ask for the sizes of all", () => {
    const read = multiply(parseExpression("B*ceil(H+T′/3)"), constant(2n));
    expect([...namesIn(read)]).toEqual(["B", "H", "T′"]);
    expect(() => evaluate(read, new Map([["B", 2]]))).toThrow("size H");
  });
});
