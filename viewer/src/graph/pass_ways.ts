/** What a trace says of the ways through the code: where a tensor's value decided, and lists of which only some ran. */
import { append } from "./append.js";
import { containersOf, type GraphData, type GraphNode, type Part, type PassWays, ROOT, type Way } from "./graph.js";

/** Undefined for most graphs. */
export function findWays(graph: Pick<GraphData, "nodes" | "hierarchy" | "ways" | "uncalled">): PassWays | undefined {
  const spans = (graph.ways ?? []).flatMap((way) => (way.waits_for === "value" ? [spanOf(way)] : []));
  if (spans.length === 0 && !graph.uncalled?.length) return undefined;
  const partly = partlyRun(graph);
  return { ...decisionsIn(graph, spans), partly };
}

/** The lines of a condition. */
interface Span {
  way: Way;
  file: string;
  first: number;
  last: number;
}

function spanOf(way: Way): Span {
  const [, file = "", line = ""] = /^(.*):(\d+)$/.exec(way.source) ?? [];
  const first = Number(line);
  const after = way.sides.map((side) => side.line).filter((side) => side > first);
  return { way, file, first, last: after.length === 0 ? first : Math.min(...after) - 1 };
}

function wayAt(spans: readonly Span[], source: string | null | undefined): Way | undefined {
  const [, file, line] = /^(.*):(\d+)$/.exec(source ?? "") ?? [];
  const at = spans.filter((span) => span.file === file && span.first <= Number(line) && Number(line) <= span.last);
  return at.sort((a, b) => b.first - a.first)[0]?.way;
}

/** Reads of a loop with two steps: one before each, and one after the last. */
const FEW_READS = 3;

/** An op on the lines of a condition. */
interface At {
  id: string;
  way: Way;
  parent: string;
}

function decisionsIn(
  { nodes, hierarchy }: Pick<GraphData, "nodes" | "hierarchy">,
  spans: readonly Span[],
): Pick<PassWays, "decisions" | "loops"> {
  const decisions = new Map<string, Way>();
  const loops = new Map<string, { way: Way; reads: string[] }[]>();
  if (spans.length === 0) return { decisions, loops };
  for (const { id, way, parent } of reads(nodes, hierarchy, spans)) {
    const isLoop = way.statement === "while" || way.statement === "for";
    const known = loops.get(parent)?.find((loop) => loop.way === way);
    if (known !== undefined) known.reads.push(id);
    else if (isLoop) append(loops, parent, { way, reads: [id] });
    else decisions.set(id, way);
  }
  // a loop of few steps isn't drawn as one
  for (const { way, reads } of [...loops.values()].flat())
    if (reads.length <= FEW_READS && way.statement === "while") decisions.set(reads[0] ?? "", way);
  return { decisions, loops };
}

/** The ops that read values for conditions: of several in a row for one condition, the first. */
function reads(nodes: readonly GraphNode[], hierarchy: GraphData["hierarchy"], spans: readonly Span[]): At[] {
  const found: At[] = [];
  let isRead = false;
  let last: At | undefined;
  for (const node of nodes) {
    const way = node.kind === "op" ? wayAt(spans, node.source) : undefined;
    const at = way && { id: node.id, way, parent: hierarchy[node.id] ?? ROOT };
    if (at?.way !== last?.way || at?.parent !== last?.parent) isRead = false;
    last = at;
    // an op without a result passes values to Python
    if (at === undefined || isRead || ("outputs" in node && Object.keys(node.outputs ?? {}).length > 0)) continue;
    isRead = true;
    found.push(at);
  }
  return found;
}

/** Module → how many did run of each list or dict in it; other modules have parts for various ends, such as a dropout. */
function partlyRun({ nodes, uncalled = [] }: Pick<GraphData, "nodes" | "uncalled">): Map<string, Part[]> {
  const found = new Map<string, Part[]>();
  const called = new Map<string, string>();
  for (const node of nodes) if (node.kind === "module" && !called.has(node.path)) called.set(node.path, node.id);
  const ran = counted(called.keys());
  for (const [list, left] of counted(uncalled.map(({ path }) => path))) {
    const besides = ran.get(list) ?? 0;
    let owner = list;
    while (owner !== "" && !called.has(owner)) owner = around(owner);
    const name = list.slice(owner.length).replace(/^\./, "");
    const isList = name !== "" || uncalled.some(({ path }) => around(path) === list && /\.\d+$/.test(path));
    if (besides > 0 && isList)
      append(found, called.get(owner) ?? ROOT, { ran: besides, of: besides + left, list: name });
  }
  return found;
}

/** Path of a module or list → the number of these paths directly in it. */
function counted(paths: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(around(path), (counts.get(around(path)) ?? 0) + 1);
  return counts;
}

function around(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf(".")));
}

/** The calls of a module inside a call of the same module, and how many there are in each, with itself. */
export function recursiveCalls({
  nodes,
  hierarchy,
}: {
  nodes: readonly GraphNode[];
  hierarchy: ReadonlyMap<string, string | null>;
}): Map<string, number> {
  const calls = nodes.filter((node) => node.kind === "module");
  const paths = new Map(calls.map(({ id, path }) => [id, path]));
  const counts = new Map<string, number>();
  for (const { id, path, call = 1 } of calls) {
    const same = [...containersOf(hierarchy, id)].filter((at) => paths.get(at) === path);
    // the root's own call has no node
    const recursive = path === "" && call > 1 ? [id, ...same] : [id, ...same].slice(0, -1);
    for (const at of recursive) counts.set(at, (counts.get(at) ?? 0) + 1);
  }
  return counts;
}
