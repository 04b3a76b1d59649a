/** One diagram come to life: the build's own pipeline, around the one thing that changes, the expansion. */
import { draw } from "../draw.js";
import { type GraphIndex, index } from "../graph.js";
import { type LayoutCache, layout, type Viz } from "../layout.js";
import { type State, toggle, toggleRun, view } from "../view.js";
import type { DiagramData } from "./loader.js";

export class Session {
  readonly #index: GraphIndex;
  readonly #cache: LayoutCache = new Map();
  #state: State;

  constructor(data: DiagramData) {
    this.#index = index(data.graph);
    this.#state = data.state;
  }

  /** The picture of the present state, as SVG text. */
  picture(viz: Viz): string {
    return this.#draw(this.#state, viz);
  }

  /** Expand what is collapsed and the other way round. */
  toggle(id: string, viz: Viz): string {
    return this.#change(toggle(this.#index, this.#state, id), viz);
  }

  /** Show the repeats of a run one by one, or as one. */
  toggleRun(run: string, viz: Viz): string {
    return this.#change(toggleRun(this.#index, this.#state, run), viz);
  }

  /** Show reshapes, casts, constants and the like, or hide them. */
  togglePlumbing(viz: Viz): string {
    return this.#change({ ...this.#state, plumbing: !this.plumbing }, viz);
  }

  get plumbing(): boolean {
    return this.#state.plumbing === true;
  }

  /** The state stays as it was where the new one can't be drawn. */
  #change(state: State, viz: Viz): string {
    const svg = this.#draw(state, viz);
    this.#state = state;
    return svg;
  }

  #draw(state: State, viz: Viz): string {
    return draw(layout(view(this.#index, state), viz, this.#cache));
  }
}
