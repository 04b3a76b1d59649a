/**
 * Times the core on traced graphs: `node bench.mjs graph.json …` prints one line of JSON per graph, in ms.
 *
 *   full    view and layout with everything open and unrolled, nothing cached (median); CPU time of the thread, which
 *           doesn't depend on how busy the machine is
 *   right   the same, from left to right
 *   drawn   its SVG, from top to bottom
 *   toggle  one module closed or opened in that picture, everything else cached (median and 95th percentile); wall time,
 *           but at most the thread's CPU time plus a tick, in case other processes interfered
 *   dot     dot on the same nodes, edges and clusters at once, with labels; null if that would take minutes
 *
 * `node bench.mjs --state graph.json` prints the state in which everything is open and unrolled.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { instance } from "@viz-js/viz";
import { buildSync } from "esbuild";

const ROUNDS = 7;
const TOGGLES = 60;
/** Whole-graph dot takes minutes at 5,000 nodes. */
const MOST_FOR_DOT = 3000;

const CORE = `
  export { ancestors } from "./src/graph/graph.js";
  export { draw } from "./src/draw/draw.js";
  export { index } from "./src/graph/indexing.js";
  export { initialState } from "./src/view/expand/initial_state.js";
  export { layout, layoutCache } from "./src/layout/layout.js";
  export { findRuns } from "./src/view/repeats/repeats.js";
  export { runId } from "./src/view/repeats/contents.js";
  export { toggle } from "./src/view/expand/toggle.js";
  export { shownIndex } from "./src/view/grouping/shown_index.js";
  export { view } from "./src/view/view.js";
`;

async function loadCore() {
  const folder = mkdtempSync(join(tmpdir(), "modeldiagrams-"));
  const outfile = join(folder, "core.mjs");
  const stdin = { contents: CORE, resolveDir: import.meta.dirname, loader: "ts" };
  buildSync({ stdin, bundle: true, format: "esm", outfile, logLevel: "error" });
  const core = await import(pathToFileURL(outfile).href);
  rmSync(folder, { recursive: true });
  return core;
}

/** Resolution of CPU time, in ms. */
const TICK = 4;

function timed(action) {
  const start = performance.now();
  const most = computed(action) + TICK;
  return Math.min(performance.now() - start, most);
}

function computed(action) {
  const start = process.threadCpuUsage();
  action();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

function quantile(times, part) {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}

/** Everything open, nothing rolled. */
function everything(index, direction = "TB") {
  const state = core.initialState(index, { depth: 999, direction }, () => ({ width: 0, height: 0 }));
  const shown = core.shownIndex(index, state);
  const runs = [...shown.contents.values()].flatMap((contents) =>
    core.findRuns(shown, contents).map((run) => core.runId(contents, run)),
  );
  return { ...state, unrolled: runs };
}

/** Modules spread over the whole picture, each closed and opened again. */
function toggleTimes(index, state, cache) {
  const step = Math.max(1, Math.floor(state.expanded.length / TOGGLES));
  const times = [];
  for (const id of state.expanded.filter((_, i) => i % step === 0)) {
    const closed = core.toggle(index, state, id);
    for (const next of [closed, state]) times.push(timed(() => core.layout(core.view(index, next), viz, cache)));
  }
  return times;
}

/** The shown graph as one dot graph: every op with its label, every module a cluster. */
function wholeGraph(shown) {
  const clusters = new Map();
  const cluster = (id) => {
    if (!clusters.has(id)) clusters.set(id, { name: `cluster_${id}`, nodes: [], subgraphs: [] });
    return clusters.get(id);
  };
  for (const node of shown.graph.nodes) {
    const parent = cluster(shown.parent.get(node.id));
    if (node.kind === "module") parent.subgraphs.push(cluster(node.id));
    else parent.nodes.push({ name: node.id, attributes: { label: node.name ?? "", shape: "box" } });
  }
  const edges = [...shown.graph.adjacency].flatMap(([tail, all]) =>
    all.map(({ to, tensor }) => ({
      tail,
      head: to,
      attributes: { label: (shown.graph.tensors.get(tensor)?.shape ?? []).join("×") },
    })),
  );
  const { nodes, subgraphs } = cluster("");
  return { directed: true, nodes, subgraphs, edges };
}

function measure(file) {
  const graph = JSON.parse(readFileSync(file, "utf8"));
  const [full, right, drawn] = [[], [], []];
  for (let round = -1; round < ROUNDS; round += 1) {
    // a new index, so that nothing is cached from the previous round; the first round warms up the engine
    for (const [direction, times] of [
      ["LR", right],
      ["TB", full],
    ]) {
      const fresh = core.index(graph);
      const state = everything(fresh, direction);
      let laidOut;
      times.push(computed(() => (laidOut = core.layout(core.view(fresh, state), viz, core.layoutCache()))));
      if (direction === "TB") drawn.push(computed(() => core.draw(laidOut)));
    }
  }
  const index = core.index(graph);
  const state = everything(index);
  const cache = core.layoutCache();
  core.layout(core.view(index, state), viz, cache);
  const toggles = toggleTimes(index, state, cache);
  const shown = core.shownIndex(index, state);
  const nodes = shown.graph.nodes.length;
  const dot = nodes > MOST_FOR_DOT ? null : computed(() => viz.render(wholeGraph(shown), { format: "json0" }));
  return {
    nodes,
    ...{
      full: quantile(full.slice(1), 0.5),
      right: quantile(right.slice(1), 0.5),
      drawn: quantile(drawn.slice(1), 0.5),
    },
    toggle: quantile(toggles, 0.5),
    toggle95: quantile(toggles, 0.95),
    dot,
  };
}

const core = await loadCore();
const viz = await instance();
const [first, second] = process.argv.slice(2);
if (first === "--state") console.log(JSON.stringify(everything(core.index(JSON.parse(readFileSync(second, "utf8"))))));
else for (const file of process.argv.slice(2)) console.log(JSON.stringify(measure(file)));
