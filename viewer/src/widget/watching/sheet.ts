/** The sheet below the bar: findings, the chosen node over time, and all figures of a step as a table. */
import { percent } from "../../shared/amounts.js";
import { words } from "../../shared/recording_strings.js";
import { fill } from "../../shared/strings.js";
import { box, make } from "../controls/dom.js";
import { type Finding, KINDS, SHARES, STATISTICS, type Tensor } from "./data.js";
import { aligned, type HeatMap, heatMap } from "./heat.js";
import { short } from "./numbers.js";
import type { TrainingRun } from "./run.js";

const NARROWEST = 240;

/** The selected node, and the repeats that its box represents. */
export interface Chosen {
  id: string;
  name: string;
  repeats: readonly string[];
}

export class RunSheet {
  readonly element: HTMLElement;
  /** Called with the reader's choice from the list. */
  onFinding: (finding: Finding) => void = () => undefined;
  readonly #findings = box("mg-findings");
  readonly #node = box("mg-run-node");
  readonly #all = make("details", "mg-run-all");
  readonly #summary = make("summary", "", "");
  #tensor = "";
  #repeat = "";
  #maps: { map: HeatMap; run: TrainingRun }[] = [];
  #redraw: () => void = () => undefined;
  #width = 0;

  constructor() {
    this.element = make("section", "mg-run-sheet", this.#findings, this.#node, this.#all);
    this.element.ariaLabel = words.recorded;
    this.element.hidden = true;
    this.#all.append(this.#summary);
    this.#all.addEventListener("toggle", () => this.#redraw());
    new ResizeObserver(() => {
      if (this.#node.clientWidth !== this.#width) this.#redraw();
    }).observe(this.#node);
  }

  /** List findings, and recorded nodes that aren't in the diagram. */
  list(runs: readonly TrainingRun[]): void {
    this.element.hidden = false;
    const parts = runs.flatMap((run) => this.#listOf(run, runs.length > 1));
    this.#findings.replaceChildren(make("strong", "", words.findings), ...parts);
  }

  #listOf({ recording }: TrainingRun, isNamed: boolean): HTMLElement[] {
    const title = isNamed ? [make("strong", "", recording.name)] : [];
    const rows = (recording.findings ?? []).map((finding) => make("li", "", this.#row(finding)));
    const list = rows.length === 0 ? make("p", "", words.nothingFound) : make("ol", "", ...rows);
    const { strangers = [], notes = [] } = recording;
    const told = [...title, list, ...notes.map((note) => make("p", "mg-run-hint", note))];
    if (strangers.length === 0) return told;
    const names = strangers.map((id) => make("li", "", make("code", "", id)));
    const missing = make(
      "details",
      "",
      make("summary", "", `${words.missing} (${strangers.length})`),
      make("ul", "", ...names),
    );
    return [...told, missing];
  }

  #row(finding: Finding): HTMLElement {
    const step = make("b", "", fill(words.stepOf, finding.step));
    const row = make("button", "mg-button", step, " ", ...nodeOf(finding), make("span", "", finding.text));
    row.type = "button";
    row.addEventListener("click", () => this.onFinding(finding));
    return row;
  }

  /**
   * Show a node over time, and all figures.
   *
   * @param node undefined if none is chosen
   */
  show(runs: readonly TrainingRun[], node: Chosen | undefined, step: number): void {
    this.#redraw = () => this.show(runs, node, step);
    this.#width = this.#node.clientWidth;
    this.#summary.textContent = fill(words.figures, step);
    const old = this.#all.querySelector(".mg-run-table");
    old?.remove();
    if (this.#all.open) this.#all.append(tableOf(runs, (run) => run.recording.tensors, step));
    if (node === undefined) this.#node.replaceChildren(make("p", "", words.chooseNode));
    else this.#showNode(runs, node, step);
  }

  /** Prefer the tensor of a finding when its node is chosen. */
  prefer({ node, what }: Finding): void {
    this.#tensor = `${what} output`;
    this.#repeat = node;
  }

  /** Mark a step in the maps. */
  #mark(step: number): void {
    for (const { map, run } of this.#maps) map.mark(run.momentAt(step));
  }

  #showNode(runs: readonly TrainingRun[], node: Chosen, step: number): void {
    const id = node.repeats.includes(this.#repeat) ? this.#repeat : node.id;
    const tensors = runs.flatMap((run) => run.tensorsOf(id)).sort(byKind);
    const title = make("strong", "", node.name);
    const repeats = node.repeats.length > 1 ? [this.#choice(words.repeatShown, pairs(node.repeats), id)] : [];
    if (tensors.length === 0) {
      const nothing = make("p", "", fill(words.nothingRecorded, id));
      this.#node.replaceChildren(box("mg-row", title, ...repeats), nothing);
      return;
    }
    const options = [...new Map(tensors.map((tensor) => [keyOf(tensor), labelOf(tensor)]))];
    if (!options.some(([key]) => key === this.#tensor)) this.#tensor = options[0]?.[0] ?? "";
    const head = box("mg-row", title, ...repeats, this.#choice(words.tensorShown, options, this.#tensor));
    const maps = box("mg-heat-maps", ...this.#mapsOf(runs, id));
    this.#node.replaceChildren(
      head,
      maps,
      tableOf(runs, (run) => run.tensorsOf(id), step, id),
    );
    this.#mark(step);
  }

  #choice(label: string, options: readonly (readonly [string, string])[], chosen: string): HTMLSelectElement {
    const choice = make("select", "mg-choice");
    choice.ariaLabel = label;
    choice.append(...options.map(([key, text]) => new Option(text, key, false, key === chosen)));
    choice.addEventListener("change", () => {
      if (label === words.tensorShown) this.#tensor = choice.value;
      else this.#repeat = choice.value;
      this.#redraw();
      this.#node.querySelector<HTMLSelectElement>(`select[aria-label="${CSS.escape(label)}"]`)?.focus();
    });
    return choice;
  }

  #mapsOf(runs: readonly TrainingRun[], id: string): HTMLElement[] {
    const found = runs.flatMap((run) => {
      const tensor = run.tensorsOf(id).find((one) => keyOf(one) === this.#tensor);
      return tensor?.heat == null ? [] : [{ run, tensor, heat: tensor.heat }];
    });
    const heats = aligned(found.map(({ heat }) => heat));
    const room = this.#node.clientWidth;
    const each = room / found.length >= NARROWEST ? room / found.length : room;
    this.#maps = found.map(({ run, tensor, heat }, i) => ({
      run,
      map: heatMap(
        { ...tensor, name: labelOf(tensor) },
        heats[i] ?? heat,
        run.recording.steps,
        Math.max(each, 120) - 4,
      ),
    }));
    return this.#maps.map(({ map, run }) => {
      const caption = runs.length > 1 ? `${run.recording.name}: ${words.heatCaption}` : words.heatCaption;
      return make("figure", "", map.element, make("figcaption", "", caption));
    });
  }
}

/** Replaces `this module` in a text. */
function nodeOf({ node }: Finding): (Node | string)[] {
  return node === "" ? [] : [make("code", "", node), ": "];
}

function keyOf({ kind, name }: Tensor): string {
  return `${kind} ${name}`;
}

const KIND_WORDS = {
  activation: words.tensorActivation,
  gradient: words.tensorGradient,
  parameter: words.tensorParameter,
  parameter_gradient: words.tensorParameterGradient,
  update: words.tensorUpdate,
};

function labelOf({ kind, name }: Tensor): string {
  // most modules have a single output, which needs no name
  return name === "output" ? KIND_WORDS[kind] : `${KIND_WORDS[kind]} ${name}`;
}

function byKind(one: Tensor, other: Tensor): number {
  return KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind);
}

/**
 * The figures of a step; the keyboard scrolls a wide table.
 *
 * @param node undefined for all nodes
 */
function tableOf(
  runs: readonly TrainingRun[],
  tensorsOf: (run: TrainingRun) => readonly Tensor[],
  step: number,
  node?: string,
): HTMLElement {
  const body = make("tbody", "", ...runs.flatMap((run) => rowsOf(run, tensorsOf(run), step, runs.length > 1, node)));
  const heads = [words.tensor, ...STATISTICS.map((name) => words[name])];
  if (node === undefined) heads.unshift(words.node);
  if (runs.length > 1) heads.unshift(words.run);
  const head = make("thead", "", make("tr", "", ...heads.map((text) => headCell(text, "col"))));
  const scroller = box("mg-run-table", make("table", "", head, body));
  scroller.tabIndex = 0;
  scroller.role = "region";
  scroller.ariaLabel = node === undefined ? fill(words.figures, step) : fill(words.figuresOf, nameOf(node), step);
  return scroller;
}

function rowsOf(
  run: TrainingRun,
  tensors: readonly Tensor[],
  step: number,
  isNamed: boolean,
  node?: string,
): HTMLElement[] {
  const moment = run.momentAt(step);
  const runName = isNamed ? [run.recording.name] : [];
  return tensors.map((tensor) => {
    const nodeName = node === undefined ? [nameOf(tensor.node)] : [];
    return rowOf(tensor, moment, [...runName, ...nodeName]);
  });
}

function nameOf(node: string): string {
  return node === "" ? words.wholeModel : node;
}

function rowOf(tensor: Tensor, moment: number, before: readonly string[]): HTMLElement {
  const isSeen = tensor.seen[moment] === "1";
  const cells = STATISTICS.map((name) => make("td", "", isSeen ? cellText(name, tensor.values[name]?.[moment]) : ""));
  const [first] = cells;
  if (!isSeen && first !== undefined) first.textContent = words.unseen;
  const names = before.map((text) => make("td", "", text));
  return make("tr", "", ...names, headCell(labelOf(tensor), "row"), ...cells);
}

function cellText(name: string, value: number | null | undefined): string {
  if (value == null) return "";
  return SHARES.has(name) ? percent(value) : short(value);
}

function pairs(texts: readonly string[]): (readonly [string, string])[] {
  return texts.map((text) => [text, text] as const);
}

function headCell(text: string, scope: string): HTMLElement {
  const cell = make("th", "", text);
  cell.scope = scope;
  return cell;
}
