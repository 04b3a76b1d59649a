/** The bar below the picture: a slider over steps with the loss as its track, the choice of the tint, and the legend. */
import { scaleLinear, scaleSymlog } from "d3-scale";
import { select } from "d3-selection";
import { words } from "../../shared/recording_strings.js";
import { fill } from "../../shared/strings.js";
import { box, button, iconButton, make, svg } from "../controls/dom.js";
import { stepAxis } from "./heat.js";
import { MEASURES, type Scale } from "./measures.js";
import { short } from "./numbers.js";
import type { TrainingRun } from "./run.js";

/** Height of the loss, and room for the slider's thumb at both ends, px. */
const HEIGHT = 40;
const THUMB = 8;
/** Losses that vary by more than this ratio are drawn on a logarithmic scale. */
const WIDE = 50;

export class RunBar {
  readonly element: HTMLElement;
  readonly #slider = make("input", "mg-curve-slider mg-steps-slider");
  readonly #track = svg("svg", { class: "mg-loss", "aria-hidden": "true" });
  readonly #told = make("output", "mg-run-told");
  readonly #measure: HTMLSelectElement;
  readonly #run = make("select", "mg-choice");
  readonly #runLabel = make("label", "mg-row", `${words.run} `, this.#run);
  readonly #legend = box("mg-run-legend");
  readonly #note = make("span", "mg-run-note");
  readonly #file = make("input", "");
  readonly #open = button(words.openFile, () => this.#file.click());
  readonly #close = button("", () => this.onClose());
  /** Called with a file that the reader chose. */
  onFile: (file: File) => void = () => undefined;
  /** Called when the reader closes that file. */
  onClose: () => void = () => undefined;
  readonly #hide = iconButton(words.hide, "M4 4l8 8M12 4l-8 8", () => this.#onHide());
  #onHide: () => void = () => undefined;
  /** Hidden before there is a recorded step. */
  readonly #controls: readonly HTMLElement[];
  #runs: readonly TrainingRun[] = [];
  #steps: readonly number[] = [];

  constructor(onChange: () => void) {
    this.#measure = choice(words.tintBy, [["", words.noTint], ...MEASURES.map(({ name, text }) => [name, text])]);
    this.#measure.value = MEASURES[0]?.name ?? "";
    this.#run.ariaLabel = words.run;
    this.#slider.type = "range";
    this.#slider.min = "0";
    this.#slider.addEventListener("input", onChange);
    this.#measure.addEventListener("change", onChange);
    this.#run.addEventListener("change", onChange);
    const slide = box("mg-slide", this.#slider);
    slide.prepend(this.#track);
    const tint = make("label", "mg-row", `${words.tintBy} `, this.#measure);
    const choices = box(
      "mg-row mg-run-choices",
      this.#told,
      tint,
      this.#runLabel,
      this.#open,
      this.#file,
      this.#close,
      this.#note,
      this.#hide,
    );
    this.#note.role = "status";
    this.#close.hidden = true;
    this.#listenForFiles();
    this.#controls = [slide, tint, this.#runLabel];
    this.#toggle(false);
    this.#hide.classList.add("mg-run-hide");
    this.#hide.hidden = true;
    this.element = box("mg-run-bar", slide, choices, this.#legend);
    this.element.role = "region";
    this.element.ariaLabel = words.training;
    new ResizeObserver(() => this.#drawTrack()).observe(slide);
  }

  get measure(): string {
    return this.#measure.value;
  }

  set measure(name: string) {
    this.#measure.value = name;
  }

  /** The index of the run that colours the nodes. */
  get run(): number {
    return Math.max(0, this.#run.selectedIndex);
  }

  /** The position of the slider. */
  get position(): number {
    return Number(this.#slider.value);
  }

  get step(): number {
    return this.#steps[this.position] ?? 0;
  }

  /** Show a message about the whole, such as a lost connection. */
  set note(text: string) {
    this.#note.textContent = text;
  }

  /** Called when the reader hides the training; without it, there is no such button. */
  set onHide(hide: () => void) {
    this.#onHide = hide;
    this.#hide.hidden = false;
  }

  /** The name of the file that a reader opened. */
  set opened(name: string | undefined) {
    this.#open.hidden = name !== undefined;
    this.#close.hidden = name === undefined;
    this.#close.textContent = fill(words.closeFile, name ?? "");
  }

  #listenForFiles(): void {
    this.#file.type = "file";
    this.#file.accept = ".mdwatch";
    this.#file.hidden = true;
    this.#file.addEventListener("change", () => {
      const [file] = this.#file.files ?? [];
      if (file !== undefined) this.onFile(file);
      this.#file.value = ""; // the same file again is a change, too
    });
  }

  /** Show these runs; a slider at the end stays at the end. */
  show(runs: readonly TrainingRun[], steps: readonly number[]): void {
    const { step } = this;
    const wasAtEnd = this.#steps.length === 0 || this.position === this.#steps.length - 1;
    this.#runs = runs;
    this.#steps = steps;
    this.#slider.max = String(Math.max(0, steps.length - 1));
    this.#slider.disabled = steps.length < 2;
    if (wasAtEnd) this.#slider.value = this.#slider.max;
    else this.goTo(step);
    this.#toggle(steps.length > 0);
    this.#runLabel.hidden = runs.length < 2;
    const chosen = this.run;
    this.#run.replaceChildren(...runs.map(({ recording }) => new Option(recording.name)));
    this.#run.selectedIndex = Math.min(chosen, runs.length - 1);
    this.#drawTrack();
  }

  #toggle(hasSteps: boolean): void {
    for (const control of this.#controls) control.hidden = !hasSteps;
  }

  /** Move to the moment of a step. */
  goTo(step: number): void {
    this.#slider.value = String(this.#positionOf(step));
  }

  /** Show the step and the meaning of the colours. */
  tell(scale: Scale | undefined): void {
    const text = `${fill(words.stepOf, this.step)} · ${this.#lossText()}`;
    this.#told.textContent = text;
    this.#slider.ariaLabel = words.training;
    this.#slider.ariaValueText = text;
    this.#moveMarker();
    this.#legend.hidden = scale === undefined;
    this.#legend.dataset.palette = scale?.palette ?? "";
    const name = MEASURES.find(({ name }) => name === this.measure)?.text ?? "";
    const entries = scale?.entries.map(({ step, text }) => entry(String(step), text)) ?? [];
    const runs = this.#runs.map(({ recording }) => recording.name);
    this.#legend.replaceChildren(
      make("span", "", `${name}:`),
      ...entries,
      entry("bad", words.isNotFinite),
      entry("none", words.noValue),
      entry("unseen", words.unseen),
      make("span", "mg-run-hint", runs.length > 1 ? fill(words.twoRuns, ...runs) : words.worst),
    );
  }

  #lossText(): string {
    const losses = this.#runs.map((run) => {
      const loss = run.recording.loss[run.momentAt(this.step)];
      const text = loss == null ? "–" : short(loss);
      return this.#runs.length > 1 ? `${run.recording.name} ${text}` : text;
    });
    const hasLoss = this.#runs.some(({ recording }) => recording.loss.some((loss) => loss !== null));
    return hasLoss ? fill(words.lossAt, losses.join(", ")) : words.noLoss;
  }

  /** A step may come after the last recorded one. */
  #positionOf(step: number): number {
    const after = this.#steps.findIndex((one) => one >= step);
    return after < 0 ? this.#steps.length - 1 : after;
  }

  #x(position: number, width: number): number {
    const room = width - 2 * THUMB;
    return THUMB + (this.#steps.length < 2 ? 0 : (room * position) / (this.#steps.length - 1));
  }

  #drawTrack(): void {
    const width = this.#track.clientWidth;
    if (width === 0) return;
    const track = select(this.#track);
    track.selectAll("*").remove();
    const losses = this.#runs.flatMap(({ recording }) => recording.loss.filter((loss) => loss !== null));
    const y = lossScale(losses);
    this.#runs.forEach((run, i) => {
      track
        .append("path")
        .attr("class", `mg-loss-line mg-run-${i}`)
        .attr("d", this.#line(run, width, y));
      for (const { step } of run.recording.findings ?? []) {
        const x = this.#x(this.#positionOf(step), width);
        track
          .append("path")
          .attr("class", "mg-loss-finding")
          .attr("d", `M${x - 3.5} 0h7l-3.5 6z`);
      }
    });
    track.append("line").attr("class", "mg-moment-line").attr("y1", 0).attr("y2", HEIGHT);
    const axis = track.append("g").attr("class", "mg-axes").attr("transform", `translate(${THUMB},${HEIGHT})`);
    if (this.#steps.length > 0) axis.call(stepAxis(this.#steps, width - 2 * THUMB, "ends"));
    this.#moveMarker();
  }

  #line({ recording }: TrainingRun, width: number, y: (loss: number) => number): string {
    let d = "";
    let isPen = false;
    recording.loss.forEach((loss, moment) => {
      const position = this.#steps.indexOf(recording.steps[moment] ?? -1);
      if (loss !== null) d += `${isPen ? "L" : "M"}${this.#x(position, width).toFixed(1)} ${y(loss).toFixed(1)}h0.01`;
      isPen = loss !== null;
    });
    return d;
  }

  #moveMarker(): void {
    const x = this.#x(this.position, this.#track.clientWidth);
    select(this.#track).select(".mg-moment-line").attr("x1", x).attr("x2", x);
  }
}

function lossScale(losses: readonly number[]): (loss: number) => number {
  const [low, high] = [Math.min(...losses), Math.max(...losses)];
  const range = [HEIGHT - 3, 3];
  if (!(low < high)) return () => HEIGHT / 2;
  const isWide = low > 0 && high / low > WIDE;
  const scale = isWide ? scaleSymlog([low, high], range).constant(low) : scaleLinear([low, high], range);
  return (loss) => scale(loss);
}

function choice(label: string, options: string[][]): HTMLSelectElement {
  const select = make("select", "mg-choice");
  select.ariaLabel = label;
  select.append(...options.map(([value = "", text = ""]) => new Option(text, value)));
  return select;
}

function entry(tint: string, text: string): HTMLElement {
  const swatch = box("mg-tint-swatch");
  swatch.dataset.tint = tint;
  return make("span", "mg-entry", swatch, text);
}
