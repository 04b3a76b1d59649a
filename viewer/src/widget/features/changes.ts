/**
 * What changed since another version. A picture that shows it has keys for the next and the previous change, and its list
 * on the page leads to it and back; any other can be compared with another version of the documentation.
 */
import { strings } from "../../shared/strings.js";
import type { ChangeBar } from "../comparing/change_bar.js";
import type { VersionComparison } from "../comparing/version_comparison.js";
import { loadComparing } from "../loader.js";
import { button, iconButton } from "../parts/dom.js";
import { mayHaveVersions } from "../version_signs.js";
import type { Widget } from "../widget.js";

declare global {
  /** Come with what compares. */
  var modelDiagramsChangeBar: ((widget: Widget) => ChangeBar) | undefined;
  var modelDiagramsVersions: ((widget: Widget, bar: ChangeBar) => VersionComparison) | undefined;
}

const LEFT = "M10 3.5L5.5 8l4.5 4.5";
const RIGHT = "M6 3.5l4.5 4.5L6 12.5";

export function changes(widget: Widget): void {
  const anchor = widget.host.getAttribute("changes");
  const rows = anchor === null ? new Map<number, HTMLElement>() : rowsOf(anchor);
  let bar: ChangeBar | undefined;
  const withBar = async (task: (bar: ChangeBar) => void) => {
    await widget.withSession(() => loadComparing().then(() => undefined));
    if (bar === undefined) {
      bar = globalThis.modelDiagramsChangeBar?.(widget);
      if (bar !== undefined && anchor !== null) bar.onShown = (shown) => mark(rows, shown);
    }
    if (bar !== undefined) task(bar);
  };
  const isDifference = () => anchor !== null || widget.session?.difference !== undefined;
  const go = (step: number) => {
    const hasChanges = isDifference();
    if (hasChanges) void withBar((open) => open.go(step));
    return hasChanges;
  };
  widget.onKey("p", () => go(-1));
  widget.onKey("n", () => go(1));
  widget.onKey("Escape", () => bar?.close() ?? false);
  widget.on("selected", () => {
    if (isDifference()) void withBar((open) => open.follow());
  });
  if (anchor !== null) {
    widget.toolbar.add(iconButton(`${strings.previousChange} (P)`, LEFT, () => go(-1)));
    widget.toolbar.add(iconButton(`${strings.nextChange} (N)`, RIGHT, () => go(1)));
    linkRows(widget, rows, withBar);
  } else if (mayHaveVersions(widget.host)) offerVersions(widget, withBar);
}

type WithBar = (task: (bar: ChangeBar) => void) => Promise<void>;

function offerVersions(widget: Widget, withBar: WithBar): void {
  let versions: VersionComparison | undefined;
  const withVersions = (task: (open: VersionComparison) => void) =>
    withBar((bar) => {
      versions ??= globalThis.modelDiagramsVersions?.(widget, bar);
      if (versions !== undefined) task(versions);
    });
  const choose = () => {
    widget.toolbar.openMenu(false);
    void withVersions((open) => void open.choose());
  };
  widget.toolbar.addToMenu("", button(strings.compare, choose));
  // until there is more than this
  widget.compareWith = async (name) => {
    if (name === undefined) return;
    await new Promise<void>((resolve) => void withVersions((open) => void open.start(name).then(resolve)));
  };
}

/** Let the rows of the page's list lead to the picture. */
function linkRows(widget: Widget, rows: ReadonlyMap<number, HTMLElement>, withBar: WithBar): void {
  for (const [number, row] of rows) makeLink(row, () => void withBar((open) => open.goTo(number)));
  widget.on("drawn", () => unlink(widget.tree.picture));
  unlink(widget.tree.picture);
}

/** Number of a change → its row in the page's list. */
function rowsOf(anchor: string): Map<number, HTMLElement> {
  const prefix = `${anchor}-change-`;
  const rows = document.querySelectorAll<HTMLElement>(`[id^="${CSS.escape(prefix)}"]`);
  return new Map([...rows].map((row) => [Number(row.id.slice(prefix.length)), row]));
}

/** Mark the rows of what is shown. */
function mark(rows: ReadonlyMap<number, HTMLElement>, shown: readonly number[]): void {
  for (const [number, row] of rows) row.ariaCurrent = shown.includes(number) ? "true" : null;
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

/** The page's own picture has links to the list; here each node is a tab stop already. */
function unlink(picture: SVGSVGElement): void {
  for (const link of picture.querySelectorAll("a.mg-change")) {
    link.removeAttribute("href");
    link.removeAttribute("aria-label");
  }
}
