/** Expanding and collapsing: by clicks, keys, and the pills of repeated blocks. */

import type { SessionState } from "../../session/diagram_data.js";
import type { Session } from "../../session/session.js";
import { fill, strings } from "../../shared/strings.js";
import { RUN_KEY, runOf } from "../picture/tree.js";
import type { Action, Widget } from "../widget.js";

/** What is being expanded or collapsed. */
const toggled = new WeakMap<Widget, string>();

/** Expand or collapse a module call; while that takes long, asking for it again gives it up. */
export async function toggleModule(widget: Widget, id: string): Promise<void> {
  if (toggled.get(widget) === id && widget.stop()) return;
  toggled.set(widget, id);
  let isExpanded = false;
  const toggle = (session: Session) => {
    const state = session.withToggled(id);
    isExpanded = state.expanded.includes(id);
    return state;
  };
  await widget.change(toggle, id);
  toggled.delete(widget);
  widget.announce(fill(isExpanded ? strings.opened : strings.closed, id));
}

/** Show the repeats of a run one by one, or as one. */
export async function toggleRepeats(widget: Widget, run: string): Promise<void> {
  let first = "";
  await widget.withSession((session) => {
    first = session.firstOfRun(run);
  });
  await widget.change((session) => session.withToggledRun(run), first);
}

export function expansion(widget: Widget): void {
  widget.onKey(RUN_KEY, (id) => {
    const node = id === undefined ? undefined : widget.tree.find(id);
    const run = node && runOf(node);
    if (run !== undefined) void toggleRepeats(widget, run);
    return run !== undefined;
  });
  widget.onKey("*", (id) => {
    if (id !== undefined) void widget.change((session) => session.withExpandedSiblings(id), id);
    return id !== undefined;
  });
  widget.actions.push(
    actionBelow(widget, strings.openInside, (session, id) => session.withExpandedBelow(id)),
    actionBelow(widget, strings.closeInside, (session, id) => session.withCollapsedBelow(id)),
  );
}

function actionBelow(widget: Widget, text: string, next: (session: Session, id: string) => SessionState): Action {
  return {
    text,
    isOffered: (id) => widget.tree.canToggle(id),
    run: (id) => void widget.change((session) => next(session, id), id),
  };
}
