/** What changed since another version: the keys, and the list on the page, whose rows lead to the picture and back. */
import { strings } from "../../shared/strings.js";
import type { ChangeBar } from "../comparing/change_bar.js";
import { iconButton } from "../parts/dom.js";
import type { Widget } from "../widget.js";

declare global {
  /** Comes with what compares. */
  var modelDiagramsChangeBar: ((widget: Widget) => ChangeBar) | undefined;
}

const LEFT = "M10 3.5L5.5 8l4.5 4.5";
const RIGHT = "M6 3.5l4.5 4.5L6 12.5";

export function changes(widget: Widget): void {
  const anchor = widget.host.getAttribute("changes");
  if (anchor === null) return;
  const rows = rowsOf(anchor);
  let bar: ChangeBar | undefined;
  const withBar = (task: (bar: ChangeBar) => void) =>
    widget.withSession(() => {
      bar ??= globalThis.modelDiagramsChangeBar?.(widget);
      if (bar === undefined) return;
      bar.onShown = (shown) => light(rows, shown);
      task(bar);
    });
  const go = (step: number) => {
    void withBar((open) => open.go(step));
    return true;
  };
  widget.toolbar.add(iconButton(`${strings.previousChange} (P)`, LEFT, () => go(-1)));
  widget.toolbar.add(iconButton(`${strings.nextChange} (N)`, RIGHT, () => go(1)));
  widget.onKey("p", () => go(-1));
  widget.onKey("n", () => go(1));
  for (const [number, row] of rows) makeLink(row, () => void withBar((open) => open.goTo(number)));
  widget.on("selected", () => void withBar((open) => open.follow()));
  widget.on("drawn", () => unlink(widget.tree.picture));
  unlink(widget.tree.picture);
}

/** Number of a change → its row in the page's list. */
function rowsOf(anchor: string): Map<number, HTMLElement> {
  const prefix = `${anchor}-change-`;
  const rows = document.querySelectorAll<HTMLElement>(`[id^="${CSS.escape(prefix)}"]`);
  return new Map([...rows].map((row) => [Number(row.id.slice(prefix.length)), row]));
}

function makeLink(row: HTMLElement, show: () => void): void {
  const link = row.querySelector("a.mg-mark");
  if (link === null) return;
  row.classList.add("mg-linked");
  row.addEventListener("click", (event) => {
    // whoever selects text does not want to leave it
    if (!link.contains(event.target as Node) && getSelection()?.isCollapsed === false) return;
    event.preventDefault();
    show();
  });
}

function light(rows: ReadonlyMap<number, HTMLElement>, shown: readonly number[]): void {
  for (const [number, row] of rows) row.ariaCurrent = shown.includes(number) ? "true" : null;
}

/** The page's own picture has links to the list; here each node is a tab stop already. */
function unlink(picture: SVGSVGElement): void {
  for (const link of picture.querySelectorAll("a.mg-change")) {
    link.removeAttribute("href");
    link.removeAttribute("aria-label");
  }
}
