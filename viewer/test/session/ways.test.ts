/** What the details say of ways, of modules that never ran, and of each case. */
import { describe, expect, it } from "vitest";
import { index } from "../../src/graph/indexing.js";
import { caseIndex } from "../../src/graph/one_case.js";
import { factsByCase } from "../../src/session/case_facts.js";
import { Costs } from "../../src/session/costs.js";
import { factsOf } from "../../src/session/node_details.js";
import { Session } from "../../src/session/session.js";
import { caseOf, heads } from "../cases.js";
import { moduleOf } from "../sketch.js";

const ways = [
  {
    source: "model.py:10",
    statement: "if" as const,
    condition: "mask is not None",
    waits_for: "input" as const,
    function: "Stem.forward",
    classes: ["test.Block"],
    sides: [
      { name: "yes", line: 11, taken: false },
      { name: "no", line: 12, taken: true },
    ],
  },
  {
    source: "model.py:20",
    statement: "if" as const,
    condition: "self.training",
    waits_for: "mode" as const,
    function: "Sketch.forward",
    classes: ["test.Sketch"],
    sides: [{ name: "no", line: 22, taken: false }],
  },
];

function linesAt(facts: ReturnType<typeof factsOf>, label: string): string[] | undefined {
  return facts.find((fact) => fact.label === label)?.lines;
}

describe("ways", () => {
  const graph = index({ ...heads(), ways });

  it("of a module are those of its class; of the model, all", () => {
    const own = factsOf(graph, "stem").find(({ label }) => label === "ways");
    expect(own?.lines).toEqual(["took 1 of 2", "not taken: if mask is not None (waits for an input)"]);
    expect(own?.places).toEqual(["", "model.py:10"]);
    expect(linesAt(factsOf(graph, ""), "ways")).toEqual([
      "took 1 of 3",
      "not taken: if mask is not None (waits for an input)",
      "not taken: if self.training: no (waits for the mode)",
    ]);
    expect(linesAt(factsOf(graph, "/norm"), "ways")).toBeUndefined();
  });

  it("that no case took name modules that never ran", () => {
    const parameters = { own: 8, total: 8, trainable: 8 };
    const some = index({ ...heads(), uncalled: [{ path: "teacher", class: "test.Teacher", parameters }] });
    expect(linesAt(factsOf(some, ""), "uncalled")).toEqual(["teacher: Teacher · 8 parameters"]);
    expect(linesAt(factsOf(some, "stem"), "uncalled")).toBeUndefined();
  });
});

describe("a node of several cases", () => {
  const counted = () => {
    const graph = heads();
    moduleOf(graph, "stem").flops = 100;
    moduleOf(graph, "cls").flops = 7;
    graph.model.flops = 107;
    const [cls, seg] = graph.cases ?? [];
    const model = { ...graph.model, flops: 400 };
    graph.cases = [cls ?? caseOf("cls"), { ...(seg ?? caseOf("seg")), model, fields: { stem: { flops: 200 } } }];
    if (graph.cases[0]) graph.cases[0].model = graph.model;
    return graph;
  };

  it("tells its cases and what differs between them", () => {
    const graph = index(counted());
    expect(linesAt(factsByCase(graph, "cls", caseIndex), "inCases")).toEqual(["cls"]);
    expect(linesAt(factsByCase(graph, "stem", caseIndex), "inCases")).toBeUndefined();
    expect(linesAt(factsByCase(graph, "stem", caseIndex), "flops")).toEqual(["cls: 100 (93 %)", "seg: 200 (50 %)"]);
    expect(linesAt(factsByCase(graph, "stem", caseIndex, 1), "flops")).toEqual(["200 (50 %)"]);
    expect(linesAt(factsByCase(graph, "input:x", caseIndex), "outputs")).toEqual(["1×8 | 2×8 float32"]);
  });

  it("tells of ways over all cases, and of tensors that only some have", () => {
    const graph = counted();
    const side = { name: "yes", line: 3, taken: true, cases: [0] };
    graph.ways = [{ ...(ways[0] as (typeof ways)[0]), sides: [side, { ...side, name: "no", cases: [1] }] }];
    Object.assign(graph.model, { inputs: { x: "input:x:0" } });
    const model = { ...graph.model, inputs: { x: "input:x:0", cache: "stem/relu:0" } };
    graph.cases = (graph.cases ?? []).map((one, i) => ({ ...one, model: i === 1 ? model : graph.model }));
    const united = index(graph);
    expect(linesAt(factsByCase(united, "stem", caseIndex), "ways")).toEqual(["took 2 of 2"]);
    expect(linesAt(factsByCase(united, "stem", caseIndex, 1), "ways")?.[0]).toBe("took 1 of 2");
    expect(linesAt(factsByCase(united, "", caseIndex), "inputs")).toEqual([
      "x: 1×8 | 2×8 float32",
      "seg: cache: 2×8 float32",
    ]);
  });

  it("costs what the chosen case costs, without one what the first does", () => {
    const graph = counted();
    const session = new Session({ graph, state: { expanded: [], unrolled: [], direction: "TB" } });
    expect(session.costs.total("flops")).toBe(107);
    session.inCase = 1;
    expect(session.costs.total("flops")).toBe(400);
    expect(session.costs.of(["stem"]).flops).toBe(200);
    expect(session.costs.of(["cls"]).flops).toBeUndefined();
  });

  it("is as in the graph of the case alone", () => {
    const alone = caseIndex(index(counted()), 0);
    expect([...alone.nodes.keys()]).not.toContain("seg");
    expect(new Costs(alone).of(["stem"]).flops).toBe(100);
  });
});
