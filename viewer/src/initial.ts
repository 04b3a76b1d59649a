import { family, shortName } from "./families.js";
import { ancestors, contentsOf, type GraphIndex, type ModuleNode, ROOT } from "./graph.js";
import { layout, layoutCache } from "./layout.js";
import { findRuns } from "./roll.js";
import { runId, surface } from "./surface.js";
import { type Direction, isExpandable, type State, shownIndex, singleChain, view } from "./view.js";

/** What an author can say about the first picture; absent or null: the viewer chooses. */
export interface ViewOptions {
  depth?: number | null;
  expand?: string[] | null;
  direction?: Direction | null;
}

/** So many visible nodes still read at a glance. */
const READABLE = 48;
/** Longest picture, in px: one to two screens of scrolling down, or about the width of a page. */
const LONGEST = { TB: 1440, LR: 1200 } as const;
/** Widest, or running left to right highest, picture that a page shows without making it illegible. */
const BROADEST = { TB: 1200, LR: 900 } as const;

/** The state a picture starts from. */
export function initialState(traced: GraphIndex, options: ViewOptions = {}): State {
  const start: State = { expanded: [], unrolled: [], direction: options.direction ?? "TB" };
  const index = shownIndex(traced, start);
  if (options.depth == null && options.expand == null) return { ...start, expanded: readable(traced, start).sort() };
  const wanted = new Set(matching(index, options.expand ?? []));
  const shown = options.depth == null ? [] : shallow(index, options.depth);
  return { ...start, expanded: [...new Set([...wanted, ...shown])].sort(), unrolled: unrolledFor(index, wanted) };
}

/** Every module down to a depth: with 1, those directly in the model. */
function shallow(index: GraphIndex, depth: number): string[] {
  return modules(index)
    .filter((node) => ancestors(index, node.id).length <= depth && isOpenable(index, node.id))
    .map((node) => node.id);
}

/** Modules whose path or class matches a pattern, with everything around them. */
function matching(index: GraphIndex, patterns: string[]): string[] {
  const rules = patterns.map(glob);
  const hits = modules(index).filter((node) =>
    rules.some((rule) => rule.test(node.path) || rule.test(shortName(node.class)) || rule.test(node.class)),
  );
  return hits.flatMap((node) => [node.id, ...ancestors(index, node.id)]).filter((id) => id !== ROOT);
}

/** Runs to be shown one by one: those of which another member than the one on show is wanted. */
function unrolledFor(index: GraphIndex, wanted: ReadonlySet<string>): string[] {
  const runs = new Set<string>();
  for (const id of wanted) {
    const contents = contentsOf(index, index.holder.get(id) ?? ROOT);
    const place = contents.children.indexOf(id);
    for (const run of findRuns(index, contents)) {
      const offset = place - run.start;
      const standIn = contents.children[run.start + (offset % run.period)] ?? "";
      const later = offset >= run.period && offset < run.period * run.times;
      if (later && !wanted.has(standIn)) runs.add(runId(contents, run));
    }
  }
  return [...runs].sort();
}

/** `*` stands for anything, `?` for one character. */
function glob(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replace(/\*/g, ".*").replace(/\?/g, ".")}$`);
}

function modules(index: GraphIndex): ModuleNode[] {
  return index.graph.nodes.filter((node): node is ModuleNode => node.kind === "module");
}

/**
 * Breadth first while the picture stays readable. Modules of one class on one level open together or, where that is
 * too much, one of them as an example: the one repeated most, or else the first.
 */
function readable(traced: GraphIndex, start: State): string[] {
  const index = shownIndex(traced, start);
  const fits = page(traced, start);
  const opened: string[] = [];
  let visible = shownIn(index, ROOT).length;
  let level = shownIn(index, ROOT);
  while (level.length > 0) {
    const next: string[] = [];
    for (const alike of byClass(index, level)) {
      const cost = (ids: string[]) => ids.reduce((sum, id) => sum + shownIn(index, innermost(index, id)).length, 0);
      const choice = [alike, alike.slice(0, 1)].find(
        (ids) => visible + cost(ids) <= READABLE && fits([...opened, ...ids]),
      );
      if (choice === undefined) continue;
      visible += cost(choice);
      opened.push(...choice);
      next.push(...choice.flatMap((id) => shownIn(index, innermost(index, id))));
    }
    level = next;
  }
  return opened;
}

/** Whether a picture with some modules open is no larger than a page, or than the picture with all of them closed. */
function page(traced: GraphIndex, start: State): (expanded: string[]) => boolean {
  const cache = layoutCache();
  // the plain layout is as large as dot's but for a few px, and needs no engine
  const measure = (expanded: string[]) => {
    const { width, height } = layout(view(traced, { ...start, expanded }), null, cache);
    return start.direction === "TB" ? { long: height, broad: width } : { long: width, broad: height };
  };
  const closed = measure([]);
  const longest = Math.max(LONGEST[start.direction], closed.long);
  const broadest = Math.max(BROADEST[start.direction], closed.broad);
  return (expanded) => {
    const { long, broad } = measure(expanded);
    return long <= longest && broad <= broadest;
  };
}

const NOTHING_UNROLLED: ReadonlySet<string> = new Set();

/** Children on show in a container, those in panels included. */
function shownIn(index: GraphIndex, id: string): string[] {
  const { contents, groups } = surface(index, id, NOTHING_UNROLLED);
  return contents.children.flatMap((child) => groups.get(child)?.contents.children ?? [child]);
}

function innermost(index: GraphIndex, id: string): string {
  const chain = singleChain(index, id);
  return chain[chain.length - 1] ?? id;
}

/**
 * Modules worth opening, those of one class together; of equal ones, which would show the same twice, the first. Attention
 * is what readers look for, then what has most parameters.
 */
function byClass(index: GraphIndex, ids: string[]): string[][] {
  const groups = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const id of ids) {
    const node = index.nodes.get(innermost(index, id));
    if (node?.kind !== "module" || !isOpenable(index, id) || !isTelling(index, node)) continue;
    const likeness = `${node.class} ${node.signature ?? node.id}`;
    if (seen.has(likeness)) continue;
    seen.add(likeness);
    const known = groups.get(node.class);
    if (known === undefined) groups.set(node.class, [id]);
    else known.push(id);
  }
  const weight = ([first]: string[]) => {
    const node = index.nodes.get(first ?? "");
    if (node?.kind !== "module") return 0;
    return family(node) === "attention" ? Number.MAX_VALUE : node.parameters.total;
  };
  for (const group of groups.values()) group.sort((a, b) => timesOf(index, b) - timesOf(index, a));
  return [...groups.values()].sort((a, b) => weight(b) - weight(a));
}

/** How often a module stands for itself and its like in a row. */
function timesOf(index: GraphIndex, id: string): number {
  const holder = index.holder.get(id) ?? ROOT;
  return surface(index, holder, NOTHING_UNROLLED).runs.get(id)?.times ?? 1;
}

function isOpenable(index: GraphIndex, id: string): boolean {
  return isExpandable(index, innermost(index, id));
}

/** More loose ops than this, and more than modules, is computation: it can be opened, but is no architecture. */
const LOOSE = 6;

/** What a norm or an activation is made of is no news; a class of the author's own with only ops in it is. */
function isTelling(index: GraphIndex, node: ModuleNode): boolean {
  const inside = shownIn(index, node.id).map((id) => index.nodes.get(id)?.kind);
  const blocks = inside.filter((kind) => kind === "module").length;
  const ops = inside.filter((kind) => kind === "op").length;
  if (ops > LOOSE && ops > blocks) return false;
  return blocks > 0 || (!node.class.startsWith("torch.nn.") && ["other", "attention", "linear"].includes(family(node)));
}
