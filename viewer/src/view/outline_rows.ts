/** The outline: all modules and shown functions of a graph as rows, with repeats grouped as in pictures. */
import { contentsOf, type FunctionNode, type GraphIndex, type ModuleNode, ROOT } from "../graph/graph.js";
import { indexGraph } from "../graph/indexing.js";
import { withFunctions } from "./grouping/functions.js";
import { shownIndex } from "./grouping/shown_index.js";
import { numberRange, rangeName } from "./labels/group_names.js";
import { isLoop } from "./repeats/contents.js";
import { findRuns, repeat } from "./repeats/repeats.js";

/** One line of the outline. */
export interface OutlineRow {
  /** Position of the parent row; null at the top. */
  parent: number | null;
  /** Id of the first module call in this row. */
  id: string;
  /** Relative to the parent row: `layers.0–11`. */
  name: string;
  /** Empty if several modules repeat together. */
  class: string;
  times: number;
  /** Whether some of its calls are of one module and use the same weights. */
  shared: boolean;
  /** How many modules, or modules that repeat together, its calls are of. */
  sets: number;
  /** The author's annotations of all of its modules: another name, whether pictures omit them, numbers of notes. */
  renamed?: string;
  hidden?: true;
  notes?: number[];
}

/** A row to be: `calls` with equal computation, or `modules` that repeat together. */
type Entry = { calls: ModuleNode[] } | { modules: ModuleNode[]; times: number; sets: number; name: string };

/** Entries with a common parent row, and its path. */
interface Siblings {
  parent: number | null;
  path: string;
  entries: Entry[];
}

/** All rows in breadth-first order, so that any prefix outlines the upper levels. */
export function outlineRows(traced: GraphIndex): OutlineRow[] {
  // runs come from the simplified graph, as in pictures; modules come from the trace, because pictures omit some
  const shown = shownIndex(traced, {});
  const listed = indexGraph(withFunctions(traced.graph, (id) => shown.nodes.has(id)));
  const inside = (id: string) => entriesOf(callsIn(listed, contentsOf(listed, id).children), repeatsIn(shown, id));
  const rows: OutlineRow[] = [];
  // the list grows while it is walked
  const queue: Siblings[] = [{ parent: null, path: "", entries: inside(ROOT) }];
  for (const { parent, path, entries } of queue) {
    for (const entry of entries) {
      const position = rows.push({ parent, ...rowOf(entry, path), ...annotationsOf(traced, entry) }) - 1;
      if ("modules" in entry) queue.push({ parent: position, path, entries: entriesOf(entry.modules, new Map()) });
      else {
        const { id = ROOT, path: own = "" } = entry.calls[0] ?? {};
        const isFunction = listed.nodes.get(id)?.kind === "function";
        queue.push({ parent: position, path: isFunction ? path : own, entries: inside(id) });
      }
    }
  }
  return rows;
}

/** The calls of modules and, in the same form, of functions. */
function callsIn(index: GraphIndex, ids: string[]): ModuleNode[] {
  return ids.flatMap((id) => {
    const node = index.nodes.get(id);
    if (node?.kind === "function") return [asModule(node)];
    return node?.kind === "module" ? [node] : [];
  });
}

function asModule({ id, name, function: full, signature, group }: FunctionNode): ModuleNode {
  const parameters = { own: 0, total: 0, trainable: 0 };
  return {
    kind: "module",
    id,
    path: name,
    class: group ? "" : (full ?? "record_function"),
    parameters,
    signature: signature ?? null,
  };
}

/** Module call → the run it belongs to. */
function repeatsIn(shown: GraphIndex, id: string): Map<string, Entry> {
  const contents = contentsOf(shown, id);
  const found = new Map<string, Entry>();
  for (const run of findRuns(shown, contents)) {
    const stretch = contents.children.slice(run.start, run.start + run.period * run.times);
    const calls = callsIn(shown, stretch);
    const modules = callsIn(shown, repeat(contents, run, 0));
    const all = calls.map(({ id }) => id);
    const name = () => (isLoop(shown, contents, run) ? "step" : rangeName(shown, all));
    const repeats = Array.from({ length: run.times }, (_, i) => callsIn(shown, repeat(contents, run, i)));
    const sets = new Set(repeats.map((calls) => calls.map(({ path }) => path).join("\n"))).size;
    const entry = modules.length > 1 ? { modules, times: run.times, sets, name: name() } : { calls };
    for (const call of calls) found.set(call.id, entry);
  }
  return found;
}

/** One entry per run, and per sequence of neighbours with equal computation. */
function entriesOf(modules: ModuleNode[], repeats: ReadonlyMap<string, Entry>): Entry[] {
  const entries: Entry[] = [];
  const seen = new Set<Entry>();
  for (const module of modules) {
    const repeated = repeats.get(module.id);
    if (repeated !== undefined && seen.has(repeated)) continue;
    if (repeated !== undefined) seen.add(repeated);
    const entry = repeated ?? { calls: [module] };
    const last = entries[entries.length - 1];
    if (last !== undefined && "calls" in last && "calls" in entry && areEqual(last.calls[0], entry.calls[0])) {
      for (const call of entry.calls) last.calls.push(call);
    } else entries.push(entry);
  }
  return entries;
}

function areEqual(one: ModuleNode | undefined, other: ModuleNode | undefined): boolean {
  if (one === undefined || other === undefined || !one.signature) return false;
  const { class: name, signature, parameters } = other;
  return one.class === name && one.signature === signature && one.parameters.total === parameters.total;
}

function rowOf(entry: Entry, path: string): Omit<OutlineRow, "parent"> {
  if ("modules" in entry) {
    const { modules, times, sets, name } = entry;
    const shared = sets < times && modules.some(({ parameters }) => parameters.total > 0);
    return { id: modules[0]?.id ?? "", name, class: "", times, shared, sets };
  }
  const { calls } = entry;
  const names = calls.map((call) => (call.path.startsWith(`${path}.`) ? call.path.slice(path.length + 1) : call.path));
  const [first] = calls;
  const distinct = [...new Set(names)];
  const { id = "", class: type = "" } = first ?? {};
  const shared = distinct.length < calls.length && (first?.parameters.total ?? 0) > 0;
  return { id, name: joined(distinct), class: type, times: calls.length, shared, sets: distinct.length };
}

/** The annotations that all modules of a row have. */
function annotationsOf({ graph }: GraphIndex, entry: Entry): Pick<OutlineRow, "renamed" | "hidden" | "notes"> {
  if (graph.annotations === undefined || !("calls" in entry)) return {};
  const all = entry.calls.map(({ id }) => graph.annotations?.get(id) ?? {});
  const [first, ...others] = all;
  const notes = (first?.notes ?? []).filter((number) => others.every((other) => other.notes?.includes(number)));
  const renamed = others.every(({ rename }) => rename === first?.rename) ? first?.rename : null;
  return {
    ...(renamed != null && { renamed }),
    ...(all.every(({ hide }) => hide) && { hidden: true }),
    ...(notes.length > 0 && { notes }),
  };
}

const MOST_NAMES = 4;

/** `0–11` for numbered neighbours, else the names, shortened if there are many. */
function joined(names: string[]): string {
  const range = names.length > 1 ? numberRange(names) : undefined;
  if (range !== undefined) return range;
  return names.length > MOST_NAMES
    ? `${names.slice(0, MOST_NAMES - 1).join(", ")}, …, ${names.at(-1)}`
    : names.join(", ");
}
