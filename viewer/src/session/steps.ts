/** The steps of a tour: turns an author's options into the state to show and the nodes to focus and light. */

import { ancestors, type GraphIndex, type GraphNode, ROOT } from "../graph/graph.js";
import { hiddenIn } from "../graph/hidden.js";
import { shortName } from "../graph/names.js";
import type { Layout, Placed, Viz } from "../layout/layout.js";
import { atOnce } from "../shared/slices.js";
import { glob, matching } from "../view/patterns.js";
import type { Lens, SessionState, TourStep } from "./diagram_data.js";
import type { Session } from "./session.js";

/** A step as its author wrote it: patterns of modules and functions as for `expand`, or ids and names of other nodes. */
export interface StepOptions {
  open?: string[] | null;
  focus?: string[] | null;
  highlight?: string[] | null;
  alone?: string | null;
  lens?: Lens | null;
}

const PATTERNS = ["open", "focus", "highlight", "alone"] as const;

/** Patterns of a step that match nothing in its graph, or only hidden nodes. */
export interface Unfound {
  option: (typeof PATTERNS)[number];
  patterns: string[];
  hidden: boolean;
}

/** A step of a tour. Each begins with the author's choice for the whole diagram, not with the step before. */
export function stepOf(session: Session, options: StepOptions, viz: Viz | null): { step: TourStep; layout: Layout } {
  const found = (patterns: string[] | null | undefined) => (patterns ?? []).flatMap((one) => nodesOf(session, one));
  const [focus, lit] = [found(options.focus), found(options.highlight)];
  const alone = found(options.alone == null ? [] : [options.alone])[0];
  const root = alone !== undefined && session.transitions.canIsolate(alone) ? alone : undefined;
  const opened = withOpen(session.grouped, session.transitions.isolate(root, session.initial), found(options.open));
  const { state, layout } = [found(options.open), focus, lit].reduce(
    (at, ids) => (ids.length === 0 || ids.some((id) => at.drawn.has(id)) ? at : reach(session, at.state, ids[0], viz)),
    shown(session, opened, viz),
  );
  const drawn = drawnIn(layout.root);
  const visible = (ids: string[]) => ids.filter((id) => drawn.has(id));
  const hasTimes = session.costs.total("time") > 0;
  const lens = options.lens === "time" && !hasTimes ? null : (options.lens ?? null);
  return { step: { state, focus: visible(focus), lit: visible(lit), lens }, layout };
}

/** The first option of a step with patterns that match nothing visible. */
export function unfound(session: Session, options: StepOptions): Unfound | null {
  const left = hiddenIn(session.grouped.graph);
  for (const option of PATTERNS) {
    const patterns = [options[option] ?? []].flat();
    const lacking = patterns.filter((pattern) => nodesOf(session, pattern).every((id) => left.has(id)));
    const hidden = lacking.filter((pattern) => nodesOf(session, pattern).length > 0);
    const isHidden = hidden.length === lacking.length;
    if (lacking.length > 0)
      return { option, patterns: lacking.filter((one) => isHidden || !hidden.includes(one)), hidden: isHidden };
  }
  return null;
}

/** The author's groups with this name, else the matches of a pattern, as for `Graph.matching` in Python. */
export function nodesOf({ grouped }: Session, pattern: string): string[] {
  const { nodes } = grouped.graph;
  const groups = nodes.filter((node) => node.kind === "function" && node.group);
  const named = groups.filter((node) => node.id === pattern || ("name" in node && node.name === pattern));
  if (named.length > 0) return named.map(({ id }) => id);
  const calls = matching(grouped, [pattern]).filter((id) => !groups.some((group) => group.id === id));
  if (calls.length > 0) return calls;
  if (grouped.nodes.has(pattern)) return [pattern]; // a later call of a module
  const rule = glob(pattern);
  return nodes.filter((node) => namesOf(node).some((name) => rule.test(name))).map(({ id }) => id);
}

/** The names of a node that isn't a call. */
function namesOf(node: GraphNode): string[] {
  if (node.kind === "module" || node.kind === "function") return [];
  const name = ("name" in node && node.name) || node.id;
  return [node.id, name, shortName(name)];
}

/** Everything that a picture shows: id → its box in the picture's coordinates. */
export function drawnIn(root: Placed): Map<string, { x: number; y: number; width: number; height: number }> {
  const found = new Map<string, { x: number; y: number; width: number; height: number }>();
  const visit = ({ frame, geometry, inner }: Placed, left: number, top: number) => {
    frame.items.forEach(({ id }, i) => {
      const box = geometry.boxes[i];
      if (box === undefined) return;
      found.set(id, { ...box, x: left + box.x, y: top + box.y });
      const inside = inner[i];
      if (inside) visit(inside, left + box.x, top + box.y);
    });
  };
  visit(root, 0, 0);
  return found;
}

interface Shown {
  state: SessionState;
  layout: Layout;
  drawn: ReadonlyMap<string, unknown>;
}

function shown(session: Session, state: SessionState, viz: Viz | null): Shown {
  const layout = atOnce(session.layOutState(state, viz));
  return { state, layout, drawn: drawnIn(layout.root) };
}

/** Make a node visible that is hidden by a closed module or a rolled repeat. */
function reach(session: Session, state: SessionState, id: string | undefined, viz: Viz | null): Shown {
  return shown(session, id === undefined ? state : session.transitions.reveal(id, state), viz);
}

function withOpen(index: GraphIndex, state: SessionState, ids: string[]): SessionState {
  const above = ids.flatMap((id) => ancestors(index, id)).filter((id) => id !== ROOT);
  return { ...state, expanded: [...new Set([...state.expanded, ...ids, ...above])].sort() };
}
