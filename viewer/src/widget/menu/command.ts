/** The command line that draws the current view of a diagram. */

import type { SessionState } from "../../session/diagram_data.js";
import type { Session } from "../../session/session.js";
import { words } from "../../shared/menu_strings.js";
import type { MenuItem } from "../controls/toolbar.js";
import type { Widget } from "../widget.js";

/** None for pages that don't know the call of their model. */
export function commands(widget: Widget): MenuItem[] {
  const { host } = widget;
  const command = host.getAttribute("command");
  if (command === null) return [];
  const run = () => void widget.tasks.withSession((session) => copy(widget, session, command));
  return [{ text: words.copyCommand, run }];
}

async function copy(widget: Widget, session: Session, command: string): Promise<void> {
  const line = [command, flags(session, widget.host.getAttribute("command-view") ?? "")].filter(Boolean).join(" ");
  const isCopied = await navigator.clipboard?.writeText(line).then(
    () => true,
    () => false,
  );
  // without a clipboard, show it for copying
  const message = isCopied ? words.commandCopied : line;
  widget.status.pin(isWhole(session.state) ? message : `${message} ${words.commandLacks}`);
}

/** Whether a state can't be expressed by options. */
function isWhole({ root, plumbing, numbers, unrolled }: SessionState): boolean {
  return root === undefined && plumbing !== true && numbers !== true && unrolled.length === 0;
}

/** @param authors the flags of the author's own view */
export function flags({ state, initial }: Session, authors: string): string {
  const isAuthors =
    JSON.stringify([state.expanded, state.direction]) === JSON.stringify([initial.expanded, initial.direction]);
  if (isAuthors) return authors;
  const { expanded, direction, functions, layers, shapes } = state;
  const open = expanded.length === 0 ? "--depth 0" : `--expand ${quoted(JSON.stringify(expanded))}`;
  return [
    open,
    `--direction ${direction}`,
    ...(functions === false ? ["--functions false"] : []),
    ...(layers === false ? ["--layers false"] : []),
    ...(shapes === undefined ? [] : [`--shapes ${shapes.length === 0 ? "none" : quoted(JSON.stringify(shapes))}`]),
  ].join(" ");
}

/** Quoted for a shell if necessary. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}
