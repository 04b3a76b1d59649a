/** Names of sizes in texts, and what they mean below the picture. */
import { describe, expect, it } from "vitest";
import type { NamedSizes } from "../../../generated/format.js";
import { picture } from "../../../src/draw/draw.js";
import type { GraphData, OpNode } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { layout } from "../../../src/layout/layout.js";
import { describe as detailsOf } from "../../../src/session/node_details.js";
import { SearchIndex } from "../../../src/session/search_index.js";
import { Session } from "../../../src/session/session.js";
import type { Frame } from "../../../src/view/frame.js";
import { nodeWords, tensorLabel } from "../../../src/view/labels/labels.js";
import { sizeLine } from "../../../src/view/labels/size_line.js";
import { sizeText } from "../../../src/view/labels/size_words.js";
import type { State } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import { sketch } from "../../sketch.js";

const STATE: State = { expanded: [], unrolled: [], direction: "TB" };
const IMAGE = { multiple_of: 32, named_by: "convention" } as const;
// JSON Schema's pairs have no type in TypeScript
const place = (tensor: string, dimension: number) => ({ places: [[tensor, dimension]] as never });
const SIZES: NamedSizes["sizes"] = {
  B: { size: 2, meaning: "batch", ...place("input:x:0", 0) },
  H: { ...IMAGE, size: 224, meaning: "height", ...place("input:x:0", 2) },
  W: { ...IMAGE, size: 448, meaning: "width", ...place("input:x:0", 3) },
  T: { size: 16, meaning: "tokens", at_most: 512, limit: "position_embeddings" },
  S: { size: 12, fixed: "expected 12 channels, got 24" },
  "n₁": { size: 32, counted: "/nonzero", bound: "B*T" },
};

/** `x → conv → nonzero → y` with a shape, and expressions, behind each. */
function named(shapes: Record<string, [shape: number[], sizes: (string | null)[]]>, more: Partial<NamedSizes> = {}) {
  const graph = sketch("x > conv > nonzero > y");
  const tensors = Object.entries(shapes);
  for (const [tensor, [shape]] of tensors) graph.tensors[tensor] = { shape, dtype: "float32" };
  const sizes = { sizes: SIZES, tensors: Object.fromEntries(tensors.map(([tensor, [, texts]]) => [tensor, texts])) };
  return { ...graph, sizes: { ...sizes, ...more } } satisfies GraphData;
}

const graph = named({
  "input:x:0": [
    [2, 3, 224, 448],
    ["B", null, "H", "W"],
  ],
  "/conv:0": [
    [2, 7, 7, 14],
    ["B", null, "H/32", "W/32"],
  ],
  "/nonzero:0": [
    [32, 17, 8],
    ["n₁", "T+1", null],
  ],
});

function labelsIn({ wires }: Frame): string[] {
  return wires.map(({ label }) => label);
}

describe("a shape with names", () => {
  const label = (shape: number[], sizes: (string | null)[], letters: Record<string, string> = {}) =>
    tensorLabel(index(named({ "/conv:0": [shape, sizes] }, { letters })), "/conv:0");

  it("has · in expressions, × between dimensions, and sums in brackets", () => {
    expect(label([2, 17, 768], ["B", "T+1", null])).toBe("B×(T+1)×768");
    expect(label([2, 64, 56, 112], ["B", null, "H/4", "W/4"])).toBe("B×64×H/4×W/4");
    expect(label([34, 8], ["B*(T+1)", "(T+2)/2-1"])).toBe("B·(T+1)×T/2");
    expect(label([2, 31], ["B", "2*T-1"])).toBe("B×(2·T−1)");
    expect(label([2, 8, 9], ["B", "ceil((T+1)/2)-1", "floor(T/2)+1"])).toBe("B×(⌈(T+1)/2⌉−1)×(⌊T/2⌋+1)");
    expect(label([17], ["T+1"])).toBe("T+1");
    expect(label([2, 8], ["ceil(T/8)", "(T+1)/2"])).toBe("⌈T/8⌉×(T+1)/2");
  });

  it("has names in the order of the inputs, not of the alphabet", () => {
    expect(label([16 * 224], ["H*T"])).toBe("H·T");
    expect(label([16 * 448], ["T*W"])).toBe("W·T");
  });

  it("keeps equal numbers apart that are different sizes", () => {
    expect(labelsIn(view(index(graph), STATE).root)).toContain("B×7×H/32×W/32");
  });

  it("has letters for what they stand for", () => {
    const N = { N: "H*W/256" };
    expect(label([2, 397, 24], ["B", "H*W/256+5", null], N)).toBe("B×(N+5)×24");
    expect(label([784], ["B*H*W/256"], N)).toBe("B·N");
    expect(label([784 * 12], ["3*B*H*W/64"], N)).toBe("12·B·N");
    expect(label([2, 392], ["B", "H*W/256"], N)).toBe("B×N");
    // neither a factor nor a part
    expect(label([2, 1568], ["B", "H*W/64"], N)).toBe("B×H·W/64");
    expect(label([2, 1568], ["B", "H*W/64"], { ...N, M: "H*W/64" })).toBe("B×M");
    expect(label([34, 17], ["B*(T+1)", "T+1"], { L: "T+1" })).toBe("B·L×L");
    expect(label([34, 289], ["B", "(T+1)*(T+1)*B"], { L: "T+1" })).toBe("B×B·(T²+2·T+1)");
  });

  it("needs no sign before a size that is counted", () => {
    const assumed = { ...graph, status: { ...graph.status, assumed_tensors: ["/nonzero:0", "/conv:0"] } };
    expect(tensorLabel(index(assumed), "/nonzero:0")).toBe("n₁×(T+1)×8");
    expect(tensorLabel(index(assumed), "/conv:0")).toBe("≤ B×7×H/32×W/32");
  });
});

describe("arguments with names", () => {
  const { nodes } = graph;
  const op = nodes.find(({ id }) => id === "/conv") as OpNode;
  const called = (name: string, args: OpNode["arguments"], texts: Record<string, string>) => {
    const node: OpNode = { ...op, name, arguments: args ?? {} };
    const data = { ...graph, nodes: nodes.map((each) => (each.id === op.id ? node : each)) };
    return index({ ...data, sizes: { ...graph.sizes, arguments: { "/conv": texts } } });
  };
  const words = (...given: Parameters<typeof called>) => {
    const found = called(...given);
    return nodeWords(found, found.nodes.get("/conv") as OpNode);
  };

  it("stand in boxes", () => {
    expect(words("torch.div", { other: 16 }, { other: "T" })).toEqual({ name: "÷ T", detail: "" });
    expect(words("torch.mul", { other: 17 }, { other: "T+1" })).toEqual({ name: "× (T+1)", detail: "" });
    expect(words("torch.Tensor.__getitem__", { key: ["::", 15] }, { "key[1]": "T-1" }).name).toBe("[:, T−1]");
    expect(
      words("torch.nn.functional.adaptive_avg_pool2d", { output_size: [7, 14] }, { "output_size[1]": "W/32" }),
    ).toEqual({ name: "adaptive_avg_pool2d", detail: "7, W/32" });
  });

  it("stand in details beside the numbers", () => {
    const found = called("torch.Tensor.view", { size: [2, 16, 768] }, { "size[0]": "B", "size[1]": "T" });
    const facts = new Map(detailsOf(found, "/conv").facts.map(({ label, lines }) => [label, lines]));
    expect(facts.get("arguments")).toEqual(["size=[B,T,768] = [2,16,768]"]);
    expect(facts.get("outputs")).toEqual(["B×7×H/32×W/32 = 2×7×7×14 float32"]);
  });
});

describe("the line below a picture", () => {
  const lineOf = (data: GraphData) => sizeLine(index(data), view(index(data), STATE).root);

  it("says what each name of the picture means", () => {
    expect(lineOf(graph)).toEqual([
      "B batch",
      "H×W image, 224×448 here, multiples of 32",
      "T tokens, 16 here, at most 512 (position_embeddings)",
      "n₁ picked by nonzero, at most B·T",
    ]);
  });

  it("has letters, and the names that explain them", () => {
    const data = named(
      {
        "/conv:0": [
          [2, 392],
          ["B", "H*W/256"],
        ],
      },
      { letters: { N: "H*W/256", M: "T*T" } },
    );
    expect(lineOf(data)).toEqual(["B batch", "H×W image, 224×448 here, multiples of 32", "N = H·W/256"]);
  });

  it("tells height from width if their limits differ, and leaves a message to the details", () => {
    const H = { size: 225, meaning: "height", multiple_of: 32, remainder: 1 };
    const W = { size: 448, meaning: "width", at_most: 512, limit: "expected at most 512 columns" };
    const data = named(
      {
        "/conv:0": [
          [225, 448],
          ["H", "W"],
        ],
      },
      { sizes: { H, W } },
    );
    expect(lineOf(data)).toEqual(["H height, 225 here, multiples of 32 plus 1", "W width, 448 here, at most 512"]);
    expect(detailsOf(index(data), "").facts.find(({ label }) => label === "sizes")?.lines).toEqual([
      "H = 225, height, multiples of 32 plus 1",
      "W = 448, width, at most 512, expected at most 512 columns",
    ]);
  });

  it("wraps at the picture's width, is text, and is told to screen readers", () => {
    const { svg, width } = picture(layout(view(index(graph), STATE), null));
    const lines = [...svg.matchAll(/<g class="mg-sizes">(.*?)<\/g>/gs)].flatMap(([, text]) => text?.split("</text>"));
    const shown = lines.map((text) => text?.replace(/<[^>]*>/g, "")).filter(Boolean);
    expect(shown.length).toBeGreaterThan(1);
    expect(shown.join(" ")).toContain("H×W image, 224×448 here, multiples of 32");
    expect(width).toBeLessThan(300);
    expect(svg).toContain("<desc>B batch · H×W image, 224×448 here");
  });
});

describe("numbers instead of names", () => {
  it("are as in the same graph without names", () => {
    const plain = new Session({ graph: { ...graph, sizes: null }, state: STATE });
    const numbers = new Session({ graph, state: { ...STATE, numbers: true } });
    const drawn = (session: Session) => picture(layout(view(session.traced, session.state), null)).svg;
    expect(drawn(numbers)).toBe(drawn(plain));
    expect(numbers.tensorText("/conv:0")).toBe("2×7×7×14 float32");
  });

  it("decide which edges change the shape", () => {
    const same = named({
      "input:x:0": [
        [2, 7],
        ["B", null],
      ],
      "/conv:0": [
        [2, 7],
        ["B", "H/32"],
      ],
    });
    const [, behind] = view(index(same), STATE).root.wires;
    expect([behind?.label, behind?.shape]).toEqual(["B×H/32", "same-shape"]);
  });
});

describe("a size without a name", () => {
  it("says why in details and tooltips", () => {
    const data = named(
      {
        "input:x:0": [
          [2, 12],
          ["B", null],
        ],
      },
      {
        sizes: { ...SIZES, S: { size: 12, ...place("input:x:0", 1), fixed: "expected 12 channels, got 24" } },
        unknown: { "/conv:0": "2, 3, 5" },
      },
    );
    const session = new Session({ graph: data, state: STATE });
    expect(session.tensorText("input:x:0")).toBe("B×12 = 2×12 float32\nS = 12 is fixed: expected 12 channels, got 24");
    expect(session.tensorText("/conv:0")).toContain("no expression for the size: 2, 3, 5");
    const lines = detailsOf(session.traced, "input:x").facts.find(({ label }) => label === "sizes")?.lines;
    expect(lines).toEqual(["S = 12 is fixed: expected 12 channels, got 24"]);
  });
});

it("nodes are found by names and by numbers", () => {
  const search = new SearchIndex(index(graph));
  for (const query of ["B×7×H/32×W/32", "bx7xh/32xw/32", "2x7x7x14", "7×14"])
    expect(search.search(query).groups.map(({ ids }) => ids)).toEqual([["/conv"]]);
});

it("an expression reads the same wherever it stands", () => {
  expect(sizeText({ sizes: SIZES, letters: { N: "H*W/256" } }, "2*B*(H*W/256+1)*T*T")).toBe("2·B·T²·(N+1)");
});
