/** What views and layouts of large models cost, counted in steps: times depend on the machine. */

import { instance } from "@viz-js/viz";
import { describe, expect, it } from "vitest";
import { contentsOf, type GraphData, type GraphIndex, type Link, ROOT } from "../../src/graph/graph.js";
import { index } from "../../src/graph/indexing.js";
import { branchesOf, mostInOrder, type Try } from "../../src/layout/decross/branches.js";
import { ANY_ORDER, acrossIn } from "../../src/layout/decross/order.js";
import { plan } from "../../src/layout/input.js";
import { layout, layoutCache, type Viz } from "../../src/layout/layout.js";
import { atOnce, noSteps } from "../../src/shared/slices.js";
import { runId, shownContents } from "../../src/view/repeats/contents.js";
import { findRuns } from "../../src/view/repeats/repeats.js";
import { view } from "../../src/view/view.js";
import { all } from "../fixtures.js";
import { sketch } from "../sketch.js";

const viz = await instance();

/** An engine that notes what it is asked. */
function listening(): { engine: Viz; asked: string[] } {
  const asked: string[] = [];
  const render: Viz["render"] = (input, options) => {
    asked.push(JSON.stringify(input));
    return viz.render(input, options);
  };
  return { engine: { render } as Viz, asked };
}

/** All open, and one by one. */
function allOpen(graph: GraphIndex) {
  const runs = [...graph.contents.values()].flatMap((contents) =>
    findRuns(graph, contents).map((run) => runId(contents, run)),
  );
  return view(graph, { expanded: [...graph.contents.keys()], unrolled: runs, direction: "TB", plumbing: true });
}

/** Equal blocks of two branches, which all read a mask. */
function stack(count: number): GraphData {
  const blocks = Array.from({ length: count }, (_, i) => {
    const before = i === 0 ? "x" : `b.${i - 1}/add`;
    return [
      `${before} > b.${i}/norm > b.${i}/mul`,
      `mask > b.${i}/mul`,
      `${before} > b.${i}/gate > b.${i}/add`,
      `b.${i}/mul > b.${i}/add`,
    ];
  });
  return sketch([...blocks.flat(), `b.${count - 1}/add > y`].join("\n"));
}

/** Plans made for a graph, all open. */
function kindsIn(graph: GraphData): number {
  const cache = layoutCache();
  layout(allOpen(index(graph)), viz, cache);
  return cache.alike.size;
}

describe("layout", () => {
  it("plans equal blocks once, however many there are", () => {
    // the model, and blocks at its ends and between
    expect(kindsIn(stack(40))).toBeLessThan(6);
  });

  it("asks dot nothing twice", () => {
    let questions = 0;
    for (const graph of Object.values(all)) {
      const { engine, asked } = listening();
      layout(allOpen(index(graph)), engine);
      expect(asked.length).toBe(new Set(asked).size);
      questions += asked.length;
    }
    expect(questions).toBeGreaterThan(10);
  });

  it("tells dot of no ports that only the router needs", () => {
    const { engine, asked } = listening();
    const branches = ["p", "q", "r"].flatMap((name) => [`x > ${name}/relu > ${name}/mul`, `mask > ${name}/mul`]);
    const joins = ["p/mul > add > tanh > y", "q/mul > add", "r/mul > add"];
    layout(allOpen(index(sketch([...branches, ...joins].join("\n")))), engine);
    const [told, used] = [/PORT=\\"(\w+)\\"/g, /port":"(\w+):/g].map((port) =>
      asked.map((graph) => [...graph.matchAll(port)].length),
    );
    expect(Math.max(...(told ?? []))).toBeGreaterThan(5);
    expect(told).toEqual(used);
  });

  it("asks dot nothing about items along a straight trunk, with a residual and with masks beside it", () => {
    const { engine, asked } = listening();
    const block = ["x > b/norm > b/attend > b/add > b/mlp > y", "x > b/add", "mask > b/attend", "b/attend > cache"];
    layout(allOpen(index(sketch([...block, "mask > b/mlp"].join("\n")))), engine);
    expect(asked.filter((graph) => graph.includes('"o0"'))).toEqual([]);
  });

  it("routes no try for the order of branches that is no better", () => {
    const graph = index(sketch("x > a > b > y\nx > c > d > y"));
    const { root } = view(graph, { expanded: [], unrolled: [], direction: "TB" });
    const { geometry } = layout(view(graph, { expanded: [], unrolled: [], direction: "TB" }), viz).root;
    const { across } = acrossIn(geometry, root);
    const [first = 0, second = 0] = branchesOf(plan(root, []))[0] ?? [];
    const inOrder = (across[first] ?? 0) < (across[second] ?? 0);
    // a fork whose branches stand in the wrong order, and a mirror image that is no better
    const branches = [inOrder ? [second, first] : [first, second]];
    const routed: string[] = [];
    const attempt = (name: string, at: readonly number[]): Try => ({
      across: () => noSteps({ across: at, inputs: [], outputs: [] }),
      make: () => {
        routed.push(name);
        return noSteps(geometry);
      },
    });
    const turned = across.map((place) => -place);
    const others = [attempt("same", across), attempt("turned", turned)];
    atOnce(mostInOrder(root, ANY_ORDER, branches, geometry, others));
    expect(routed).toEqual(["turned"]);
  });

  it("asks dot no more about longer stacks", () => {
    const questions = (count: number) => {
      const { engine, asked } = listening();
      layout(allOpen(index(stack(count))), engine);
      return asked.map((graph) => [...graph.matchAll(/"name":"n/g)].length);
    };
    expect(questions(40)).toEqual(questions(10));
  });
});

/** A loop over time with three ops in each step. */
function loop(steps: number): GraphData {
  const lines = Array.from({ length: steps }, (_, i) => [
    `u > getitem'${i} > add'${i} > tanh'${i}`,
    `${i === 0 ? "s" : `tanh'${i - 1}`} > add'${i}`,
  ]);
  const graph = sketch([...lines.flat(), `tanh'${steps - 1} > y`].join("\n"));
  const picks = (id: string) => Number(/getitem'(\d+)$/.exec(id)?.[1] ?? Number.NaN);
  const nodes = graph.nodes.map((node) =>
    node.kind === "op" && !Number.isNaN(picks(node.id)) ? { ...node, arguments: { key: picks(node.id) } } : node,
  );
  return { ...graph, nodes };
}

/** How often each link of an unrolled loop is looked at. */
function looksPerLink(steps: number): number {
  const graph = index(loop(steps));
  const contents = contentsOf(graph, ROOT);
  const runs = findRuns(graph, contents).map((run) => runId(contents, run));
  let looks = 0;
  const links = contents.links.map((link): Link => {
    const { from, ...others } = link;
    return Object.defineProperty({ ...others, from }, "from", {
      enumerable: true,
      get() {
        looks += 1;
        return from;
      },
    });
  });
  const shown = shownContents({ ...graph, contents: new Map([[ROOT, { ...contents, links }]]) }, ROOT, new Set(runs));
  const panels = [...shown.groups.values()].flatMap(({ groups }) => [...groups.keys()]);
  expect(panels).toHaveLength(steps);
  return looks / links.length;
}

it("unrolls a loop in a time that its number of steps multiplies, not its square", () => {
  expect(looksPerLink(80)).toBeLessThan(1.2 * looksPerLink(20));
});
