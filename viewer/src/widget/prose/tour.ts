/** A tour: the picture shows the subject of the visible step. Nothing is loaded before a reader moves on. */
import type { TourStep } from "../../session/diagram_data.js";
import { words } from "../../shared/prose_strings.js";
import type { Widget } from "../widget.js";
import { type Light, lightOf } from "./lit_nodes.js";
import { moveTo } from "./move_to.js";
import { widgetOf } from "./widget_of.js";

/** Position of the reading line, as a share of the free height below the picture or the page's bar: its step is current. */
const LINE = 0.35;
/** Approximate height of the bars of themes at the upper edge of the window, px. */
const BAR = 72;

export async function startTour(tour: HTMLElement): Promise<void> {
  const host = tour.querySelector("model-graph[graph]");
  const steps = [...tour.querySelectorAll<HTMLElement>(".mg-step")];
  if (host === null || steps.length === 0) return;
  // before the widget exists, as the page may contain the script several times
  tour.dataset.started = "";
  new Tour(tour, steps, await widgetOf(host));
}

class Tour {
  readonly #element: HTMLElement;
  readonly #steps: HTMLElement[];
  readonly #widget: Widget;
  readonly #light: Light;
  readonly #bar = new Bar((by) => this.#go(this.#current + by));
  #current = 0;
  /** Set while a step is chosen, to which the page may be too short to scroll. */
  #isChosen = false;
  /** The step of the picture; the page's own picture has none. */
  #shown = -1;
  #isShowing = false;
  /** How far the picture is moved down, px. */
  #shift = 0;

  constructor(element: HTMLElement, steps: HTMLElement[], widget: Widget) {
    this.#element = element;
    this.#steps = steps;
    this.#widget = widget;
    this.#light = lightOf(widget);
    widget.host.classList.add("mg-touring");
    widget.host.closest(".mg-figure")?.after(this.#bar.element);
    for (const [key, by] of [["p", -1] as const, ["n", 1] as const])
      widget.onKey(key, () => this.#go(this.#current + by));
    widget.whileConnected((signal) => this.#listen(signal));
    this.#mark();
  }

  #listen(signal: AbortSignal): void {
    let isWaiting = false;
    const follow = () => {
      if (isWaiting) return;
      isWaiting = true;
      requestAnimationFrame(() => {
        isWaiting = false;
        this.#keepInSight();
        if (!this.#isChosen) this.#show(this.#inSight());
      });
    };
    const release = ({ type, target }: Event) => {
      // using the picture keeps the step, also while the page is still gliding to it
      const isScroll = type === "wheel" || type === "touchmove";
      if (isScroll || !this.#bar.element.parentElement?.contains(target as Node)) this.#isChosen = false;
    };
    document.addEventListener("scroll", follow, { capture: true, passive: true, signal });
    addEventListener("resize", follow, { signal });
    for (const type of ["wheel", "touchmove", "keydown", "pointerdown"])
      document.addEventListener(type, release, { passive: true, signal });
    this.#steps.forEach((step, i) => {
      step.addEventListener("focusin", () => this.#show(i), { signal });
    });
    const seen = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) this.#begin();
    });
    seen.observe(this.#element);
    signal.addEventListener("abort", () => seen.disconnect());
  }

  /** Whether the tour is in the window. */
  #begin(): void {
    const first = this.#inSight();
    if (first > 0 || this.#beginsElsewhere) this.#show(first);
  }

  /** Scroll to a step; whether there is one. */
  #go(index: number): boolean {
    const step = this.#steps[index];
    if (step === undefined) return false;
    this.#isChosen = true;
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth";
    scrollBy({ top: step.getBoundingClientRect().top - this.#line() + 1, behavior });
    this.#show(index);
    return true;
  }

  #show(index: number): void {
    if (index !== this.#current) {
      this.#current = index;
      this.#mark();
    }
    void this.#follow();
  }

  /** Show the step that is current by then, one at a time. */
  async #follow(): Promise<void> {
    const isThere = this.#shown === -1 && this.#current === 0 && !this.#beginsElsewhere;
    if (this.#isShowing || isThere) return;
    this.#isShowing = true;
    try {
      while (this.#shown !== this.#current) {
        const next = this.#current;
        await this.#display(next);
        this.#shown = next;
      }
    } catch {
      // otherwise, each step still has a still picture
      this.#element.classList.remove("mg-live");
    } finally {
      this.#isShowing = false;
    }
  }

  /** Whether the first step differs from the page's own picture. */
  get #beginsElsewhere(): boolean {
    return this.#element.classList.contains("mg-begins");
  }

  async #display(index: number): Promise<void> {
    const widget = this.#widget;
    widget.select(undefined);
    this.#light.keep([]);
    const [session] = await widget.tasks.load();
    const step = stepsOf(widget)[index];
    if (step === undefined) return;
    if (JSON.stringify(session.state) !== JSON.stringify(step.state)) await widget.change(() => step.state);
    // a reader may have selected something meanwhile
    if (widget.selected === undefined) this.#light.keep(step.lit);
    const { lens } = widget.linked;
    if (lens?.get() !== (step.lens ?? undefined)) lens?.set(step.lens ?? "kind");
    moveTo(widget, step.focus, step.lit);
    widget.announce(`${this.#bar.text} ${titleOf(this.#steps[index])}`);
  }

  #mark(): void {
    this.#steps.forEach((step, i) => {
      step.ariaCurrent = i === this.#current ? "step" : null;
    });
    this.#bar.show(this.#current, this.#steps.length);
  }

  /**
   * Move the picture where `position: sticky` fails: some pages wrap their content in a box that clips wide tables, which
   * browsers take for the scrolling element although the window scrolls.
   */
  #keepInSight(): void {
    const picture = this.#bar.element.parentElement;
    const body = picture?.parentElement;
    if (!picture || !body) return;
    const { top, height } = picture.getBoundingClientRect();
    const natural = top - this.#shift;
    const room = body.getBoundingClientRect().bottom - height - natural;
    this.#shift = Math.round(Math.max(0, Math.min(BAR - natural, room)));
    picture.style.translate = this.#shift === 0 ? "" : `0 ${this.#shift}px`;
  }

  #inSight(): number {
    const line = this.#line();
    const read = line + this.#atEnds(line);
    const begun = this.#steps.filter((step) => step.getBoundingClientRect().top <= read);
    return Math.max(0, begun.length - 1);
  }

  /** The reading line in the window, px. */
  #line(): number {
    const picture = this.#bar.element.parentElement?.getBoundingClientRect();
    const text = this.#steps[0]?.getBoundingClientRect();
    const isAbove =
      picture !== undefined && text !== undefined && picture.left < text.right && text.left < picture.right;
    // the position of the picture once the page is scrolled to the steps
    const top = isAbove ? Math.max(0, Math.min(picture.bottom, BAR + picture.height)) : BAR;
    return top + (innerHeight - top) * LINE;
  }

  /** Shift of the line at the start and the end of the page, so that the first and the last steps are reached. */
  #atEnds(line: number): number {
    const [page, first] = [document.scrollingElement, this.#steps[0]];
    if (page === null || first === undefined) return 0;
    const { scrollTop } = page;
    const range = page.scrollHeight - innerHeight;
    const above = Math.max(0, line - first.getBoundingClientRect().top - scrollTop);
    if (range <= 1) return -above;
    const below = innerHeight - line;
    const begun = Math.min(1, scrollTop / Math.min(range, line));
    const left = Math.min(1, (range - scrollTop) / Math.min(range, below));
    return below * (1 - left) - above * (1 - begun);
  }
}

/** The bar below the picture with the number of the step and buttons to others. */
class Bar {
  readonly element = document.createElement("div");
  readonly #place = document.createElement("span");
  readonly #buttons: readonly HTMLButtonElement[];

  constructor(move: (by: number) => void) {
    this.element.className = "mg-tour-bar";
    this.element.role = "group";
    this.element.ariaLabel = words.tour;
    this.#buttons = [arrow(words.previousStep, "‹", () => move(-1)), arrow(words.nextStep, "›", () => move(1))];
    this.element.append(this.#buttons[0] as Node, this.#place, this.#buttons[1] as Node);
    this.element.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      move(by);
    });
  }

  get text(): string {
    return this.#place.textContent;
  }

  show(index: number, count: number): void {
    this.#place.textContent = words.stepOf.replace("{0}", String(index + 1)).replace("{1}", String(count));
    // not disabled, which would take away the focus
    this.#buttons[0]?.setAttribute("aria-disabled", String(index === 0));
    this.#buttons[1]?.setAttribute("aria-disabled", String(index === count - 1));
  }
}

function arrow(name: string, text: string, action: () => void): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "mg-tour-button";
  button.title = name;
  button.ariaLabel = name;
  button.textContent = text;
  button.addEventListener("click", action);
  return button;
}

function stepsOf({ host }: Widget): readonly TourStep[] {
  const data = globalThis.modelDiagramsData?.get(host.getAttribute("graph") ?? "");
  return typeof data === "object" ? (data.steps ?? []) : [];
}

function titleOf(step: HTMLElement | undefined): string {
  return step?.querySelector(".mg-step-title")?.textContent ?? "";
}
