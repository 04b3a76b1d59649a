/** Searching: a field below the picture, one hit after the other brought to light. */
import { box, iconButton, make } from "./dom.js";
import { find } from "./find.js";
import { withNode } from "./states.js";
import { fill, strings } from "./strings.js";
import { WayBack } from "./wayback.js";
import type { Widget } from "./widget.js";

const GLASS = "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9zM10.5 10.5l3.5 3.5";
const UP = "M3.5 10L8 5.5l4.5 4.5";
const DOWN = "M3.5 6L8 10.5L12.5 6";
const CLOSE = "M4 4l8 8M12 4l-8 8";

export function search(widget: Widget): void {
  const field = make("input", "mg-field");
  field.type = "search";
  field.placeholder = strings.searchHint;
  field.ariaLabel = strings.search;
  const count = make("output", "mg-count");
  let hits: string[] = [];
  let at = -1;

  const go = (step: number) => {
    if (hits.length === 0) return;
    // the first step back leads to the last hit
    at = (Math.max(at, step < 0 ? 0 : -1) + step + hits.length) % hits.length;
    const hit = hits[at] ?? "";
    count.value = fill(strings.hits, at + 1, hits.length);
    // what is on screen already needs no other picture
    if (widget.tree.has(hit)) widget.go(hit);
    else void widget.change((state, session) => withNode(session, state, hit)).then(() => widget.go(hit));
  };
  const look = () => {
    void widget.askData((session) => {
      hits = find(session.traced, field.value);
      at = -1;
      count.value =
        field.value.trim() === "" ? "" : hits.length === 0 ? strings.noHits : fill(strings.hits, 0, hits.length);
    });
  };
  const open = () => {
    if (bar.hidden) back.remember();
    bar.hidden = false;
    field.focus();
    field.select();
    return true;
  };
  const close = () => {
    if (bar.hidden) return false;
    const leave = back.leaving(at >= 0 ? widget.selected : undefined);
    bar.hidden = true;
    leave();
    return true;
  };

  const bar = box(
    "mg-search",
    field,
    count,
    iconButton(strings.previous, UP, () => go(-1)),
    iconButton(strings.next, DOWN, () => go(1)),
    iconButton(strings.close, CLOSE, close),
  );
  const back = new WayBack(widget, bar);
  bar.role = "search";
  bar.hidden = true;
  field.addEventListener("input", look);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    // what was typed may still be looked for
    void widget.askData(() => go(event.shiftKey ? -1 : 1));
  });
  widget.foot.prepend(bar);
  widget.toolbar.add(iconButton(strings.search, GLASS, open));
  widget.onKey("/", open);
  widget.onKey("Escape", close);
}
