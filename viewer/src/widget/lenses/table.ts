import type { GraphIndex } from "../../graph/graph.js";
import { amountOf } from "../../session/costs.js";
import { sizesInWords } from "../../session/naming.js";
import { words } from "../../shared/lens_strings.js";
import { fill } from "../../shared/strings.js";
import { box, button, download, make, onResize } from "../controls/dom.js";
import type { Widget } from "../widget.js";
import { type BoxScale, nameOf, writtenIn } from "./box_scale.js";
import { asCsv, type Column, type CostRow, columnsOf, type RowOrder, shortened, sorted } from "./cost_rows.js";
import { signOf } from "./scale.js";

/** The costs of the boxes of a picture as a table, beside or below the picture. */

/** Most rows that are shown; the file has all. */
const MOST = 200;
/** Least width of a diagram with the table beside its picture, and least height of such a table, px. */
const BROAD = 1000;
const HIGH = 240;
/** Room for the line above it, px. */
const NOTE = 56;

export class CostTable {
  readonly element = box("mg-costs");
  readonly #widget: Widget;
  readonly #table = make("table", "mg-cost-rows");
  readonly #scroller = box("mg-cost-scroller", this.#table);
  readonly #note = box("mg-cost-note");
  #rows: readonly CostRow[] = [];
  #scale: BoxScale | undefined;
  /** Id of the box from which the reader came: its row is also shown. */
  #asked: string | undefined;
  #order: RowOrder = { column: "name", isAscending: true };

  constructor(widget: Widget) {
    this.#widget = widget;
    this.element.role = "region";
    this.element.ariaLabel = words.costTable;
    this.element.hidden = true;
    this.#scroller.tabIndex = 0;
    this.#scroller.role = "group";
    this.#scroller.ariaLabel = words.costTable;
    this.element.append(this.#note, this.#scroller);
    widget.on("selected", () => this.#mark());
    widget.whileConnected((signal) => {
      const resized = onResize(() => this.#place());
      for (const part of [widget.host, widget.stage]) resized.observe(part);
      signal.addEventListener("abort", () => resized.disconnect());
    });
  }

  /** Open or close it. */
  set isOpen(isOpen: boolean) {
    this.element.hidden = !isOpen;
    this.#place();
    if (isOpen) this.#draw();
  }

  /** Show these rows; another lens sorts them by its amounts. */
  show(rows: readonly CostRow[], scale: BoxScale): void {
    if (this.#scale?.lens !== scale.lens) this.#order = { column: scale.lens, isAscending: false };
    this.#rows = rows;
    this.#scale = scale;
    if (!this.element.hidden) this.#draw();
  }

  /** Move from a box to its row; whether it has one. */
  focusRow(id: string): boolean {
    this.#asked = id;
    if (this.#rowOf(id) === undefined && this.#rows.some((row) => row.id === id)) this.#draw();
    const row = this.#rowOf(id);
    row?.querySelector("button")?.focus();
    return row !== undefined;
  }

  /** Place the table beside the picture if there is room: its element precedes the stage, which gets narrower. */
  #place(): void {
    const { host, stage, foot } = this.#widget;
    const isBeside = !this.element.hidden && host.clientWidth >= BROAD && stage.offsetHeight >= HIGH;
    this.element.classList.toggle("mg-beside", isBeside);
    this.#scroller.style.maxHeight = isBeside ? `${stage.offsetHeight - NOTE}px` : "";
    const neighbour = isBeside ? stage.previousElementSibling : foot;
    if (this.element.previousElementSibling === neighbour) return;
    if (isBeside && neighbour === this.element) return;
    if (isBeside) stage.before(this.element);
    else foot.after(this.element);
  }

  #draw(): void {
    const focused = this.#focusedKey();
    const rows = sorted(this.#rows, this.#order);
    const shown = shortened(rows, MOST, this.#asked);
    const more = rows.length - shown.length;
    const file = button(words.saveCsv, () => this.#save());
    this.#note.replaceChildren(
      make("span", "", words.tableHint),
      ...(more > 0 ? [make("span", "", ` ${fill(words.moreRows, more)}`)] : []),
      file,
    );
    const head = make("thead", "", make("tr", "", ...this.#columns.map((column) => this.#heading(column))));
    const body = make("tbody", "", ...shown.map((row) => this.#row(row)));
    this.#table.replaceChildren(head, body);
    this.#mark();
    if (focused !== undefined) this.#table.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  /** The column of the lens comes first: a narrow page shows little more. */
  get #columns(): readonly Column[] {
    const chosen = this.#scale?.lens;
    const columns = columnsOf(this.#rows);
    const [name, ...others] = columns;
    return chosen === undefined || name === undefined
      ? columns
      : [name, chosen, ...others.filter((column) => column !== chosen)];
  }

  #titleOf(column: Column): string {
    if (column === "name") return words.box;
    return column === "times" ? words.times : nameOf(column, this.#index);
  }

  get #index(): GraphIndex {
    const { session } = this.#widget;
    if (session === undefined) throw new Error("expected a session");
    return session.traced;
  }

  #focusedKey(): string | undefined {
    const active = (this.element.getRootNode() as ShadowRoot).activeElement;
    return active instanceof HTMLElement && this.#table.contains(active) ? active.dataset.key : undefined;
  }

  #heading(column: Column): HTMLElement {
    const { column: by, isAscending } = this.#order;
    const sort = button(this.#titleOf(column), () => this.#sort(column));
    sort.dataset.key = `column ${column}`;
    const cell = make("th", column === this.#scale?.lens ? "mg-chosen" : "", sort);
    cell.scope = "col";
    if (column === by) cell.ariaSort = isAscending ? "ascending" : "descending";
    return cell;
  }

  #sort(column: Column): void {
    const isSame = this.#order.column === column;
    this.#order = { column, isAscending: isSame ? !this.#order.isAscending : column === "name" };
    this.#draw();
  }

  #row(row: CostRow): HTMLElement {
    const go = button(row.name, () => this.#goTo(row.id));
    go.title = row.class;
    go.dataset.key = `row ${row.id}`;
    const name = make("th", "", go);
    name.scope = "row";
    const cells = this.#columns.slice(1).map((column) => this.#cell(row, column));
    const line = make("tr", "", name, ...cells);
    line.dataset.row = row.id;
    return line;
  }

  #cell({ times, cost }: CostRow, column: Column): HTMLElement {
    if (column === "times" || column === "name") return make("td", "", times > 1 ? `×${times}` : "");
    const value = amountOf(cost, column);
    const text = value === undefined ? "–" : signOf(cost, column) + writtenIn(this.#index, value, column);
    if (column !== this.#scale?.lens) return make("td", "", text);
    const { share } = this.#scale.read(cost);
    return make("td", "mg-chosen", share === "" ? text : `${text} · ${share}`);
  }

  #goTo(id: string): void {
    this.#widget.goTo(id);
    const node = this.#widget.tree.find(id);
    if (node !== undefined) this.#widget.focus(node);
  }

  /** Mark the row of the selected box. */
  #mark(): void {
    const { selected } = this.#widget;
    for (const row of this.#table.querySelectorAll("tr[aria-current]")) row.removeAttribute("aria-current");
    const row = selected === undefined ? undefined : this.#rowOf(selected);
    if (row === undefined) return;
    row.ariaCurrent = "true";
    // scrolls only inside the table, not the page
    const [{ top, bottom }, around] = [row.getBoundingClientRect(), this.#scroller.getBoundingClientRect()];
    if (bottom > around.bottom) this.#scroller.scrollTop += bottom - around.bottom;
    if (top < around.top) this.#scroller.scrollTop -= around.top - top + row.offsetHeight;
  }

  #rowOf(id: string): HTMLElement | undefined {
    if (this.element.hidden) return undefined;
    return this.#table.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`) ?? undefined;
  }

  #save(): void {
    const { traced } = this.#widget.session ?? {};
    const name = [traced?.graph.model.name ?? "model", traced && sizesInWords(traced)].filter(Boolean).join(" ");
    const names = (traced?.graph.numbers ?? []).map((numbers) => numbers.name);
    download(`${name}.csv`, new Blob([asCsv(sorted(this.#rows, this.#order), names)], { type: "text/csv" }));
  }
}
