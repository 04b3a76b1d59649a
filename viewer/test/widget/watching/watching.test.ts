import { describe, expect, it } from "vitest";
import { decoded, type Kind, type Recording, type Series, type Statistic } from "../../../src/widget/watching/data.js";
import { aligned } from "../../../src/widget/watching/heat.js";
import { MEASURES, type Measure, measureFor, scaleOf } from "../../../src/widget/watching/measures.js";
import { power, short } from "../../../src/widget/watching/numbers.js";
import { TrainingRun, worstOf } from "../../../src/widget/watching/run.js";

const measure = (name: string) => MEASURES.find((one) => one.name === name) as Measure;

/** A number as pages have it: what `_code` of page.py makes. */
const code = (value: number) => Math.sign(value) * (Math.round(100 * Math.log10(Math.abs(value))) + 5000);

function packed(values: readonly (number | null)[], isShare = false): Series {
  let before = 0;
  return values.map((value) => {
    if (value === null) return null;
    const now = isShare ? Math.round(1000 * value) : value === 0 ? 0 : code(value);
    const difference = now - before;
    before = now;
    return difference;
  });
}

interface Given {
  node: string;
  kind: Kind;
  values: Partial<Record<Statistic, readonly (number | null)[]>>;
  seen?: string;
}

function recording(tensors: readonly Given[], steps = [0, 10, 20]): Recording {
  return {
    name: "run.mdwatch",
    steps,
    loss: steps.map(() => 1),
    tensors: tensors.map(({ node, kind, values, seen = "111" }) => ({
      node,
      kind,
      name: "output",
      seen,
      values: Object.fromEntries(
        Object.entries(values).map(([name, series]) => [name, packed(series, ["zeros", "bad", "dead"].includes(name))]),
      ),
    })),
  };
}

const gradients = (...series: (number | null)[][]) =>
  recording(series.map((rms, i) => ({ node: `layers.${i}`, kind: "gradient" as const, values: { rms } })));

describe("numbers of a page", () => {
  it("are read back with two digits", () => {
    const values = [3.14e-9, -2.5, null, 0, 7.7e12];
    const { tensors } = decoded(recording([{ node: "a", kind: "activation", values: { mean: values } }]));
    tensors[0]?.values.mean?.forEach((read, i) => {
      const value = values[i] ?? null;
      if (value === null || value === 0) expect(read).toBe(value);
      else expect((read ?? 0) / value).toBeCloseTo(1, 1);
    });
  });

  it("are written short, and nothing becomes zero", () => {
    expect([short(0.000123), short(-1234), short(0), short(0.5)]).toEqual(["1.2e−4", "−1200", "0", "0.5"]);
    expect([power(-12), power(0), power(3)]).toEqual(["10⁻¹²", "1", "10³"]);
  });
});

describe("readings", () => {
  const run = new TrainingRun(
    recording([
      { node: "a", kind: "gradient", values: { rms: [1e-3, 1e-2, 1e-1] } },
      { node: "b", kind: "gradient", values: { rms: [1, 1, null], bad: [0, 0, 0.2] } },
      { node: "c", kind: "gradient", values: { rms: [1, null, 1] }, seen: "101" },
      { node: "a", kind: "update", values: { ratio: [1e-3, 1e-8, 0.5] } },
    ]),
  );

  it("are of the moment that a step belongs to", () => {
    expect([-1, 0, 9, 10, 20, 21].map((step) => run.momentAt(step))).toEqual([-1, 0, 0, 1, 2, -1]);
  });

  it("take the worst of all nodes", () => {
    const gradient = measure("gradient");
    expect(run.reading(["a", "b"], gradient, 1).tensor?.node).toBe("b");
    expect(run.reading(["a", "b"], gradient, 2).state).toBe("bad");
    expect(run.reading(["a"], gradient, 2).value).toBeCloseTo(0.1);
  });

  it("never say zero of what was not seen", () => {
    const gradient = measure("gradient");
    expect(run.reading(["c"], gradient, 1)).toEqual({ state: "unseen" });
    expect(run.reading(["d"], gradient, 1)).toEqual({ state: "unseen" });
    expect(run.reading(["a"], gradient, -1)).toEqual({ state: "unseen" });
    // it was seen, and has no such value
    expect(run.reading(["b"], measure("update"), 1)).toEqual({ state: "none" });
  });

  it("of several repeats rank what is not finite first, and what was not seen last", () => {
    const gradient = measure("gradient");
    const of = (nodes: string[], moment: number) => nodes.map((node) => run.reading([node], gradient, moment));
    expect(worstOf(of(["a", "b"], 2), gradient).state).toBe("bad");
    expect(worstOf(of(["c", "a"], 1), gradient).tensor?.node).toBe("a");
  });

  it("of a ratio are worst far from what is usual, on both sides", () => {
    const update = measure("update");
    const both = [0, 1, 2].map((moment) => run.reading(["a"], update, moment));
    expect(worstOf(both, update).value).toBeCloseTo(1e-8);
  });
});

describe("scales", () => {
  it("part sizes at powers of ten and use all colours", () => {
    const scale = scaleOf(measure("gradient"), [decoded(gradients([2e-6, 3e-4, 2e-2]))]);
    expect(scale.entries.map(({ text }) => text)).toEqual(["< 10⁻⁵", "≥ 10⁻⁵", "≥ 10⁻⁴", "≥ 10⁻³", "≥ 10⁻²"]);
    expect(scale.entries[0]?.step).toBe(1);
    expect(scale.entries.at(-1)?.step).toBe(7);
    expect(scale.stepOf(1e-9)).toBe(1);
    expect(scale.stepOf(1e9)).toBe(7);
  });

  it("have no more steps than colours, however far values are apart", () => {
    const values = [...Array(60).keys()].map((i) => 10 ** (i - 40));
    const steps = values.map((_, i) => i);
    const far = recording([{ node: "a", kind: "gradient", values: { rms: values }, seen: "1".repeat(60) }], steps);
    const { entries } = scaleOf(measure("gradient"), [decoded(far)]);
    expect(entries.length).toBeLessThanOrEqual(7);
    expect(new Set(entries.map(({ step }) => step)).size).toBe(entries.length);
  });

  it("of nothing don't fail", () => {
    expect(scaleOf(measure("gradient"), [gradients()]).entries.length).toBeGreaterThan(0);
  });

  it("tell no share from a small one", () => {
    const scale = scaleOf(measure("dead"), []);
    expect(scale.stepOf(0)).toBe(0);
    expect(scale.stepOf(0.001)).toBe(1);
    expect(scale.stepOf(1)).toBe(7);
  });

  it("have colours on both sides of usual updates", () => {
    const scale = scaleOf(measure("update"), []);
    expect([1e-9, 1e-3, 1].map((value) => scale.stepOf(value))).toEqual([-3, 0, 3]);
    expect(scale.palette).toBe("around");
    const texts = ["< 10⁻⁵", "≥ 10⁻⁵", "≥ 10⁻⁴", "≥ 3·10⁻⁴", "≥ 3·10⁻³", "≥ 10⁻²", "≥ 10⁻¹"];
    expect(scale.entries.map(({ text }) => text)).toEqual(texts);
  });
});

it("a finding chooses the measure that shows it", () => {
  const finding = { step: 0, node: "a", text: "" };
  expect(measureFor({ ...finding, kind: "dead", what: "activation" })).toBe("dead");
  expect(measureFor({ ...finding, kind: "exploding", what: "parameter_gradient" })).toBe("gradient");
  expect(measureFor({ ...finding, kind: "nonfinite", what: "loss" })).toBeUndefined();
});

it("heat maps of two runs have the same rows", () => {
  const [one, other] = aligned([
    { lowest: 10, highest: 11, rows: ["1", "2", "3", "4", "5"] },
    { lowest: 11, highest: 12, rows: ["6", "7", "3", "8", "9"] },
  ]);
  expect(one?.rows).toEqual(["0", "1", "2", "3", "4", "5", "0"]);
  expect(other?.rows).toEqual(["6", "7", "0", "3", "0", "8", "9"]);
});
