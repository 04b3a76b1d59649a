/** Opening and closing: clicks, keys, the pills of repeated blocks, and the menu's rows for the whole picture. */
import { headOf } from "../surface.js";
import { toggle, toggleRun } from "../view.js";
import { button } from "./dom.js";
import type { Shown } from "./session.js";
import { collapseBelow, expandBelow, expandSiblings, expandTo } from "./states.js";
import { fill, strings } from "./strings.js";
import { RUN_KEY, runOf } from "./tree.js";
import type { Widget } from "./widget.js";

/** Expand or collapse a module call. */
export function toggleModule(widget: Widget, id: string): Promise<void> {
  let open = false;
  const change = (state: Shown) => {
    const next = toggle(state, id);
    open = next.expanded.includes(id);
    return next;
  };
  return widget.change(change, id).then(() => widget.say(fill(open ? strings.opened : strings.closed, id)));
}

/** Show the repeats of a run one by one, or as one. */
export function toggleRepeats(widget: Widget, run: string): Promise<void> {
  const show = () => widget.change((state, session) => toggleRun(session.shown(), state, run), headOf(run));
  // the core knows the first of the run, which is to stay in place: it may still have to come
  return widget.askData(() => undefined).then(show);
}

/** As many levels as can be asked for by number. */
const LEVELS = 4;

export function expansion(widget: Widget): void {
  widget.onKey(RUN_KEY, (id) => {
    const node = id === undefined ? undefined : widget.tree.find(id);
    const run = node && runOf(node);
    if (run !== undefined) void toggleRepeats(widget, run);
    return run !== undefined;
  });
  widget.onKey("*", (id) => {
    if (id !== undefined) void widget.change((state, session) => expandSiblings(session.shown(), state, id), id);
    return id !== undefined;
  });
  const below = (text: string, change: typeof expandBelow | typeof collapseBelow) => ({
    text,
    offered: (id: string) => widget.tree.expandable(id),
    run: (id: string) => void widget.change((state, session) => change(session.shown(), state, id), id),
  });
  widget.actions.push(below(strings.openInside, expandBelow), below(strings.closeInside, collapseBelow));

  const level = (text: string, depth: number) =>
    button(text, () => void widget.change((state, session) => expandTo(session.shown(), state, depth)));
  const levels = [...Array(LEVELS).keys()].map((depth) => level(String(depth), depth));
  widget.toolbar.addToMenu(strings.openLevels, ...levels, level(strings.all, Number.POSITIVE_INFINITY));
  widget.toolbar.addToMenu(
    "",
    plumbingSwitch(widget),
    button(strings.reset, () => void widget.change((_, session) => session.initial).then(() => widget.camera.reset())),
  );
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
