/** Opening and closing: clicks, keys, the pills of repeated blocks, and the menu's rows for the whole picture. */
import { headOf } from "../surface.js";
import { toggle, toggleRun } from "../view.js";
import { button } from "./dom.js";
import { strings } from "./strings.js";
import { RUN_KEY, runOf } from "./tree.js";
import type { Widget } from "./widget.js";

/** Expand or collapse a module call. */
export function toggleModule(widget: Widget, id: string): Promise<void> {
  return widget.change((state, session) => toggle(session.traced, state, id), id);
}

/** Show the repeats of a run one by one, or as one. */
export function toggleRepeats(widget: Widget, run: string): Promise<void> {
  return widget.change((state, session) => toggleRun(session.traced, state, run), headOf(run));
}

export function expansion(widget: Widget): void {
  widget.onKey(RUN_KEY, (id) => {
    const node = id === undefined ? undefined : widget.tree.find(id);
    const run = node && runOf(node);
    if (run !== undefined) void toggleRepeats(widget, run);
    return run !== undefined;
  });
  widget.toolbar.addToMenu("", plumbingSwitch(widget));
}

function plumbingSwitch(widget: Widget): HTMLButtonElement {
  const element = button(
    strings.plumbing,
    () => void widget.change((state) => ({ ...state, plumbing: !state.plumbing })),
  );
  element.ariaPressed = "false";
  widget.on("drawn", () => {
    element.ariaPressed = String(widget.session?.state.plumbing === true);
  });
  return element;
}
