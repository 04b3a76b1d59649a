/** Sizes and costs that depend on assumed sizes have a sign wherever they are shown. */
import { describe, expect, it } from "vitest";
import { differenceOf } from "../../src/diff/difference.js";
import type { GraphData, ModuleNode, OpNode } from "../../src/graph/graph.js";
import { detailsOf } from "../../src/session/details.js";
import { Session } from "../../src/session/session.js";
import { tensorLabel } from "../../src/view/labels/labels.js";
import type { State } from "../../src/view/state.js";
import { headLines } from "../../src/widget/comparing/summary.js";
import { LensScale } from "../../src/widget/lenses/scale.js";
import cnn from "../graphs/cnn.json";

const CLOSED: State = { expanded: [], unrolled: [], direction: "TB" };
const exact = cnn as unknown as GraphData;
const inside = (id: string | undefined) =>
  exact.nodes.find((node): node is OpNode => node.kind === "op" && exact.hierarchy[node.id] === id);
const [first, second] = exact.nodes.filter(
  (node): node is ModuleNode => node.kind === "module" && (inside(node.id)?.flops ?? 0) > 0,
);
const op = inside(second?.id);

/** The sizes inside the second module depend on an assumed one. */
function assuming(value: unknown, costs_of_input = false): GraphData {
  const guesses = [{ node: inside(first?.id)?.id ?? "", value, reason: "" }];
  const assumed_flops = [second?.id ?? "", op?.id ?? ""];
  const assumed_tensors = op?.outputs ?? [];
  return { ...exact, status: { ...exact.status, guesses, assumed_tensors, assumed_flops, costs_of_input } };
}

describe.each([
  ["every element", "≤ ", "≤ ", false],
  ["once each", "≈ ", "≈ ", false],
  ["every element, with costs of this input", "≤ ", "≈ ", true],
])("a size assumed as %s", (value, shapeSign, sign, isOfInput) => {
  const graph = assuming(value.split(",")[0], isOfInput);
  const session = new Session({ graph, state: CLOSED });
  const lines = (id: string, label: string) =>
    detailsOf(session, id).facts.find((fact) => fact.label === label)?.lines ?? [];

  it("marks shapes", () => {
    const [tensor = ""] = op?.outputs ?? [];
    expect(tensorLabel(session.grouped, tensor)).toMatch(new RegExp(`^${shapeSign}\\d`));
  });

  it("marks costs in details, up to the model", () => {
    for (const label of ["flops", "memory"]) {
      expect(lines(second?.id ?? "", label)[0]).toContain(sign);
      expect(lines("", label)[0]?.startsWith(sign)).toBe(true);
      expect(lines(first?.id ?? "", label)[0]).not.toContain(sign);
    }
  });

  it("marks costs in lenses", () => {
    const { costs } = session;
    const amount = (id: string, lens: "flops" | "memory" | "parameters") =>
      new LensScale(lens, costs.whole).read(costs.of([id])).amount;
    expect(amount(second?.id ?? "", "flops").startsWith(sign)).toBe(true);
    expect(amount(second?.id ?? "", "memory").startsWith(sign)).toBe(true);
    expect(amount(second?.id ?? "", "parameters")).toMatch(/^\d/);
    expect(amount(first?.id ?? "", "flops")).toMatch(/^\d/);
    expect(new LensScale("flops", costs.whole).title).toContain(sign);
  });

  it("marks totals in differences", () => {
    const flops = (one: GraphData, other: GraphData) =>
      headLines(differenceOf(JSON.stringify(one), JSON.stringify(other)))[1];
    expect(flops(graph, graph)).toContain(sign);
    expect(flops(exact, graph)).toMatch(new RegExp(`\\d.* → ${sign}`));
    expect(flops(exact, exact)).not.toMatch(/[≤≈]/);
  });
});
