/** Which modules are worth opening, and what they then show, with every run folded. */
import { type GraphIndex, isLayers, type ModuleNode, ROOT } from "../../graph/graph.js";
import { boxOf, isExpandable, type ModuleBox } from "../boxes.js";
import { familyOf } from "../labels/op_families.js";
import { foldedContents } from "../repeats/contents.js";

const NOTHING_UNROLLED: ReadonlySet<string> = new Set();

/** A visible child, and how many it represents. */
export interface ShownChild {
  id: string;
  times: number;
}

/** Visible children of a container, including those in group panels. */
export function entriesIn(index: GraphIndex, id: string): ShownChild[] {
  const { contents, groups, runs } = foldedContents(index, id);
  return contents.children.flatMap((child) => {
    const group = groups.get(child);
    if (group === undefined) return [{ id: child, times: (runs.get(child) ?? boxed(index, child).run)?.times ?? 1 }];
    return group.contents.children.map((inner) => ({
      id: inner,
      times: group.times * ((group.runs.get(inner) ?? boxed(index, inner).run)?.times ?? 1),
    }));
  });
}

/** All modules that a visible child represents. */
export function membersOf(index: GraphIndex, container: string, id: string): string[] {
  const { runs, groups } = foldedContents(index, container);
  const run = runs.get(id) ?? boxed(index, id).run;
  if (run != null) return run.members;
  const group = [...groups.values()].find(({ contents }) => contents.children.includes(id));
  if (group === undefined) return [id];
  const period = group.members.length / group.times;
  return group.members.filter((_, i) => i % period === group.members.indexOf(id));
}

/** Ids of the visible children of a container. */
export function shownIn(index: GraphIndex, id: string): string[] {
  const { contents, groups } = foldedContents(index, id);
  return contents.children.flatMap((child) => groups.get(child)?.contents.children ?? [child]);
}

export function boxed(index: GraphIndex, id: string): ModuleBox {
  return boxOf(index, id, NOTHING_UNROLLED);
}

/** The module whose contents a box shows. */
export function innermost(index: GraphIndex, id: string): string {
  const { chain } = boxed(index, id);
  return chain[chain.length - 1] ?? id;
}

/** Length of the run that a module represents; 1 without a run. */
export function timesOf(index: GraphIndex, id: string): number {
  const parent = index.parent.get(id) ?? ROOT;
  return (foldedContents(index, parent).runs.get(id) ?? boxed(index, id).run)?.times ?? 1;
}

export function isOpenable(index: GraphIndex, id: string): boolean {
  return isExpandable(index, innermost(index, id));
}

/** A module with more ops than this, and more ops than modules, is computation, not architecture. */
const MAX_OPS = 6;

/** Whether the inside shows architecture: that of a user's own class does, that of a norm or an activation doesn't. */
export function isInformative(index: GraphIndex, node: ModuleNode): boolean {
  const inside = shownIn(index, node.id).map((id) => index.nodes.get(id));
  const blocks = inside.filter((child) => child?.kind === "module" || isLayers(child)).length;
  const ops = inside.filter((child) => child?.kind === "op").length;
  if (ops > MAX_OPS && ops > blocks) return false;
  return (
    blocks > 0 ||
    (!node.class.startsWith("torch.nn.") && ["other", "attention", "linear"].includes(familyOf(index, node)))
  );
}
