/** One diagram come to life: the build's own pipeline, around the one thing that changes, the state. */
import { draw } from "../draw.js";
import { type GraphIndex, index } from "../graph.js";
import { type Layout, type LayoutCache, layout, type Viz } from "../layout.js";
import { type State, shownIndex, view } from "../view.js";
import type { DiagramData } from "./loader.js";

/** What is shown; plain data. */
export interface Shown extends State {
  /** Id of the module that is a picture of its own; absent for the whole model. */
  root?: string;
}

export class Session {
  /** The graph as it was traced: everything that is known. */
  readonly traced: GraphIndex;
  /** What the author chose to show. */
  readonly initial: Shown;
  readonly #cache: LayoutCache = new Map();
  #state: Shown;

  constructor(data: DiagramData) {
    this.traced = index(data.graph);
    this.initial = data.state;
    this.#state = data.state;
  }

  get state(): Shown {
    return this.#state;
  }

  /** The graph that is drawn: without what the state hides. */
  get shown(): GraphIndex {
    return shownIndex(this.traced, this.#state);
  }

  /** The layout of the picture on screen. */
  layout(viz: Viz): Layout {
    return this.#layout(this.#state, viz);
  }

  /** Take on another state, and draw it as SVG text. The state stays as it was where the new one can't be drawn. */
  show(state: Shown, viz: Viz): string {
    const svg = draw(this.#layout(state, viz));
    this.#state = state;
    return svg;
  }

  #layout(state: Shown, viz: Viz): Layout {
    return layout(view(this.traced, state), viz, this.#cache);
  }
}
