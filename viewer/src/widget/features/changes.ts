/**
 * What changed since another version. The picture of a difference has keys for the next and the previous change, and links
 * to and from the list on the page; any other picture can be compared with another version of the documentation.
 */
import { strings } from "../../shared/strings.js";
import type { ChangeBar } from "../comparing/change_bar.js";
import type { VersionComparison } from "../comparing/version_comparison.js";
import { iconButton } from "../controls/dom.js";
import { loadOwn } from "../loading/loader.js";
import { mayHaveVersions } from "../loading/version_signs.js";
import type { Widget } from "../widget.js";

/** The parts of a diagram that show changes. */
interface Shown {
  bar: ChangeBar;
  versions: VersionComparison;
}

declare global {
  /** Set by `compare.js`. @param rows of the page's list */
  var modelDiagramsShown: ((widget: Widget, rows: Rows) => Shown) | undefined;
}

/** Number of a change → its row. */
type Rows = ReadonlyMap<number, HTMLElement>;
type WithShown = (task: (shown: Shown) => void) => Promise<void>;

const LEFT = "M10 3.5L5.5 8l4.5 4.5";
const RIGHT = "M6 3.5l4.5 4.5L6 12.5";

export function changes(widget: Widget): void {
  const anchor = widget.host.getAttribute("changes");
  // the id of another model's diagram, in a catalogue
  const against = widget.host.getAttribute("against");
  const rows = rowsOf(anchor);
  let shown: Shown | undefined;
  const withShown: WithShown = async (task) => {
    await widget.tasks.withSession(() => loadOwn("compare.js").then(() => undefined));
    shown ??= globalThis.modelDiagramsShown?.(widget, rows);
    if (shown !== undefined) task(shown);
  };
  const isDifference = () => anchor !== null || widget.session?.difference !== undefined;
  const go = (step: number) => {
    const hasChanges = isDifference();
    if (hasChanges) void withShown(({ bar }) => bar.go(step));
    return hasChanges;
  };
  widget.onKey("p", () => go(-1));
  widget.onKey("n", () => go(1));
  widget.on("selected", () => {
    if (isDifference()) void withShown(({ bar }) => bar.follow());
  });
  if (anchor !== null) {
    widget.toolbar.add(iconButton(`${strings.previousChange} (P)`, LEFT, () => go(-1)));
    widget.toolbar.add(iconButton(`${strings.nextChange} (N)`, RIGHT, () => go(1)));
    linkRows(widget, rows, withShown);
  } else if (against !== null) void withShown(({ versions }) => void versions.startWith(against));
  else if (mayHaveVersions(widget.host)) offerVersions(widget, withShown);
}

function offerVersions(widget: Widget, withShown: WithShown): void {
  let isAsked = false;
  const choose = () => {
    isAsked = true;
    void withShown(({ versions }) => void versions.choose());
  };
  widget.toolbar.addToMenu("", { text: strings.compare, run: choose });
  // `compare.js` replaces this
  widget.compareWith = async (name) => {
    isAsked ||= name !== undefined;
    if (!isAsked) return;
    await new Promise<void>((resolve) => void withShown(({ versions }) => void versions.start(name).then(resolve)));
  };
}

/** Link the rows of the page's list to the picture. */
function linkRows(widget: Widget, rows: Rows, withShown: WithShown): void {
  for (const [number, row] of rows) makeLink(row, () => void withShown(({ bar }) => bar.goTo(number)));
  widget.on("drawn", () => unlink(widget.tree.picture));
  unlink(widget.tree.picture);
}

function rowsOf(anchor: string | null): Rows {
  const prefix = `${anchor}-change-`;
  const rows = anchor === null ? [] : document.querySelectorAll<HTMLElement>(`[id^="${CSS.escape(prefix)}"]`);
  return new Map([...rows].map((row) => [Number(row.id.slice(prefix.length)), row]));
}

function makeLink(row: HTMLElement, show: () => void): void {
  const link = row.querySelector("a.mg-mark");
  if (link === null) return;
  row.classList.add("mg-linked");
  row.addEventListener("click", (event) => {
    // who selects text doesn't want to leave it
    if (!link.contains(event.target as Node) && getSelection()?.isCollapsed === false) return;
    event.preventDefault();
    show();
  });
}

/** Remove the links of the page's own picture to the list: here, each node is already a tab stop. */
function unlink(picture: SVGSVGElement): void {
  for (const link of picture.querySelectorAll("a.mg-change")) {
    link.removeAttribute("href");
    link.removeAttribute("aria-label");
  }
}
