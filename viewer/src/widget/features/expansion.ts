/** Expanding and collapsing: by clicks, keys, and the pills of repeated blocks. */

import type { SessionState } from "../../session/diagram_data.js";
import type { Session } from "../../session/session.js";
import { fill, strings } from "../../shared/strings.js";
import { RUN_KEY, runOf } from "../picture/tree.js";
import type { Action, Widget } from "../widget.js";

/** The module that is being expanded or collapsed. */
const toggled = new WeakMap<Widget, string>();

/** Expand or collapse a module call. Asking again while that takes long stops it. */
export async function toggleModule(widget: Widget, id: string): Promise<void> {
  if (toggled.get(widget) === id && widget.tasks.stop()) return;
  toggled.set(widget, id);
  let isExpanded = false;
  const toggle = (session: Session) => {
    const state = session.transitions.toggle(id);
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
  await widget.change(
    (session) => {
      first = session.firstOfRun(run);
      return session.transitions.toggleRun(run);
    },
    () => first,
  );
}

export function expansion(widget: Widget): void {
  widget.onKey(RUN_KEY, (id) => {
    const node = id === undefined ? undefined : widget.tree.find(id);
    const run = node && runOf(node);
    if (run !== undefined) void toggleRepeats(widget, run);
    return run !== undefined;
  });
  widget.onKey("*", (id) => {
    if (id !== undefined) void widget.change((session) => session.transitions.expandSiblings(id), id);
    return id !== undefined;
  });
  widget.actions.push(
    actionBelow(widget, strings.openInside, ({ transitions }, id) => transitions.expandBelow(id)),
    actionBelow(widget, strings.closeInside, ({ transitions }, id) => transitions.collapseBelow(id)),
  );
}

function actionBelow(widget: Widget, text: string, next: (session: Session, id: string) => SessionState): Action {
  return {
    text,
    isOffered: (id) => widget.tree.canToggle(id),
    run: (id) => void widget.change((session) => next(session, id), id),
  };
}
