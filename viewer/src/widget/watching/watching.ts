/** Shows the recordings of a training: connects the picture, the bar and the sheet. */
import type { Session } from "../../session/session.js";
import { words } from "../../shared/recording_strings.js";
import { fill } from "../../shared/strings.js";
import { box } from "../controls/dom.js";
import type { Widget } from "../widget.js";
import { RunBar } from "./bar.js";
import type { Finding, Recording } from "./data.js";
import { readRecording } from "./file/read.js";
import { MEASURES, type Measure, measureFor, type Scale, scaleOf } from "./measures.js";
import { Places } from "./places.js";
import { TrainingRun, worstOf } from "./run.js";
import { RunSheet } from "./sheet.js";
import { paintTints, type Shown } from "./tint.js";

export class Watching {
  readonly #widget: Widget;
  /** The diagram at first. */
  readonly #own: Session;
  readonly bar = new RunBar(() => this.#refresh());
  readonly #sheet = new RunSheet();
  readonly #below = box("mg-run-below", this.#sheet.element);
  /** The page's recordings, and one that a reader opened. */
  #given: readonly Recording[] = [];
  #opened: Recording | undefined;
  #runs: readonly TrainingRun[] = [];
  #places: Places | undefined;
  #painted: SVGSVGElement | undefined;
  #scale: Scale | undefined;

  constructor(widget: Widget, session: Session) {
    this.#widget = widget;
    this.#own = session;
    this.#sheet.onFinding = (finding) => this.#goTo(finding);
    widget.foot.prepend(this.bar.element);
    widget.foot.after(this.#below);
    this.bar.onFile = (file) => void this.#open(file);
    this.bar.onClose = () => this.#showWith(undefined);
    acceptFiles(widget.host, (file) => void this.#open(file));
    widget.exportDecorators.push((picture) => this.#paint(picture));
    widget.on("drawn", () => this.#onDrawn());
    widget.on("selected", () => this.#showSheet());
  }

  /** Show other recordings, or more of the same. */
  update(recordings: readonly Recording[]): void {
    this.#given = recordings;
    this.#showWith(this.#opened);
  }

  /** Hide or show the bar, the sheet and the colours. */
  hide(isHidden: boolean): void {
    this.bar.element.hidden = isHidden;
    this.#below.hidden = isHidden;
    this.#refresh();
  }

  /** Show a reader's own file, next to the page's first recording. */
  async #open(file: File): Promise<void> {
    this.bar.note = fill(words.reading, file.name);
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const nodes = this.#session.traced.graph.nodes.map(({ id }) => id);
      const found = await readRecording(file.name, bytes, nodes);
      if (!found.tensors.some(({ node }) => node !== "") && (found.strangers ?? []).length > 0) {
        throw new RangeError(words.otherModel);
      }
      this.#showWith(found);
      this.bar.note = "";
    } catch (error) {
      this.bar.note = fill(words.notRead, file.name, error instanceof Error ? error.message : String(error));
    }
  }

  #showWith(opened: Recording | undefined): void {
    this.#opened = opened;
    this.bar.opened = opened?.name;
    const recordings = opened === undefined ? this.#given : [...this.#given.slice(0, 1), opened];
    this.#runs = recordings.map((recording) => new TrainingRun(recording));
    this.#places = undefined;
    const steps = [...new Set(recordings.flatMap((recording) => recording.steps))].sort((a, b) => a - b);
    this.bar.show(this.#runs, steps);
    this.#sheet.list(this.#runs);
    this.#refresh();
  }

  /** Start at the first finding, if any. */
  begin(): void {
    const [first] = this.#runs.flatMap(({ recording }) => recording.findings ?? []);
    if (first === undefined) return;
    this.bar.goTo(first.step);
    this.bar.measure = measureFor(first) ?? this.bar.measure;
    this.#refresh();
  }

  #refresh(): void {
    const measure = this.bar.element.hidden ? undefined : this.#measure;
    const recordings = this.#runs.map(({ recording }) => recording);
    this.#scale = measure === undefined ? undefined : scaleOf(measure, recordings);
    this.#widget.stage.dataset.palette = this.#scale?.palette ?? "";
    this.bar.tell(this.#scale);
    this.#paint(this.#widget.tree.picture);
    this.#showSheet();
  }

  get #measure(): Measure | undefined {
    return MEASURES.find(({ name }) => name === this.bar.measure);
  }

  #onDrawn(): void {
    if (this.#painted !== this.#widget.tree.picture) this.#places = undefined;
    this.#paint(this.#widget.tree.picture);
  }

  #paint(picture: SVGSVGElement): void {
    this.#painted = this.#widget.tree.picture;
    const measure = this.bar.element.hidden ? undefined : this.#measure;
    paintTints(picture, this.#scale, (id) => (measure === undefined ? undefined : this.#shown(id, measure)));
  }

  #shown(id: string, measure: Measure): Shown | undefined {
    const places = this.#placesNow;
    const repeats = this.#session.rolled().all(id);
    const isEmpty = repeats.every((repeat) => places.inside(repeat).length === 0);
    if (isEmpty && !places.isRecordable(id)) return undefined;
    const strips = this.#runs.map((run) => {
      const moment = run.momentAt(this.bar.step);
      return repeats.map((repeat) => run.reading(places.inside(repeat), measure, moment));
    });
    return { worst: worstOf(strips[this.bar.run] ?? [], measure), strips };
  }

  #showSheet(): void {
    const { selected: id } = this.#widget;
    if (id === undefined) this.#sheet.show(this.#runs, undefined, this.bar.step);
    else {
      const chosen = { id, name: this.#session.title(id), repeats: this.#session.rolled().all(id) };
      this.#sheet.show(this.#runs, chosen, this.bar.step);
    }
  }

  get #placesNow(): Places {
    this.#places ??= new Places(this.#session, new Set(this.#runs.flatMap((run) => [...run.nodes])));
    return this.#places;
  }

  /** The diagram, maybe at other sizes; not what changed in it. */
  get #session(): Session {
    const { session } = this.#widget;
    return session === undefined || session.difference !== undefined ? this.#own : session;
  }

  /** The box that shows a node: its own, or that of its repeats. */
  #boxOf(node: string): string | undefined {
    const { tree } = this.#widget;
    return [node, this.#session.rolled().standIn(node)].find((id) => tree.has(id));
  }

  /** Move to the step and the node of a finding, and show what it is about. */
  #goTo(finding: Finding): void {
    const { step, node } = finding;
    this.bar.goTo(step);
    this.bar.measure = measureFor(finding) ?? this.bar.measure;
    this.#sheet.prefer(finding);
    this.#refresh();
    const place = this.#boxOf(node);
    if (node === "") this.#widget.select("");
    else if (place !== undefined) this.#widget.goTo(place);
    else void this.#widget.show(node);
  }
}

/** Take recordings that are dropped on an element. */
function acceptFiles(host: HTMLElement, take: (file: File) => void): void {
  host.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  host.addEventListener("drop", (event) => {
    const [file] = event.dataTransfer?.files ?? [];
    if (file === undefined) return;
    event.preventDefault();
    take(file);
  });
}

/** The recordings that a page has of a diagram; its data is loaded when there is a session. */
export function recordingsOf(host: HTMLElement): readonly Recording[] {
  const data = globalThis.modelDiagramsData?.get(host.getAttribute("graph") ?? "");
  return typeof data === "object" ? ((data.recordings ?? []) as readonly Recording[]) : [];
}
