/** One diagram come to life: the build's own pipeline, around the one thing that changes, the state. */
import { draw } from "../draw.js";
import { type GraphIndex, index } from "../graph.js";
import { type Layout, type LayoutCache, layout, type Viz } from "../layout.js";
import { type State, shownIndex, view } from "../view.js";
import type { DiagramData } from "./loader.js";
import { Recent } from "./recent.js";
import { subgraph } from "./subgraph.js";

/** What is shown; plain data. */
export interface Shown extends State {
  /** Id of the module that is a picture of its own; absent for the whole model. */
  root?: string | undefined;
}

/**
 * So much is kept for the reader who goes back and forth, and for equal containers, which come close after another. What
 * is on screen is kept anyway. A geometry of the largest models' outermost container is some 50 kB.
 */
const GEOMETRIES = 64;
const PARTS = 4;

export class Session {
  /** The graph as it was traced: everything that is known. */
  readonly traced: GraphIndex;
  /** What the author chose to show. */
  readonly initial: Shown;
  readonly #cache: LayoutCache = new Recent(GEOMETRIES);
  /** Id of a module → its inside as a graph of its own. */
  readonly #parts = new Recent<string, GraphIndex>(PARTS);
  #state: Shown;

  constructor(data: DiagramData) {
    this.traced = index(data.graph);
    this.initial = data.state;
    this.#state = data.state;
  }

  get state(): Shown {
    return this.#state;
  }

  /** The graph that a state shows: the model or one module, without what the state hides. */
  shown(state: Shown = this.#state): GraphIndex {
    return shownIndex(this.#part(state), state);
  }

  /** The layout of the picture on screen. */
  layout(viz: Viz): Layout {
    return this.#layout(this.#state, viz);
  }

  /** The picture on screen, as SVG text. */
  picture(viz: Viz): string {
    return draw(this.layout(viz));
  }

  /** Take on another state, and lay it out. The state stays as it was where the new one can't be laid out. */
  show(state: Shown, viz: Viz): Layout {
    const made = this.#layout(state, viz);
    this.#state = state;
    return made;
  }

  #layout(state: Shown, viz: Viz): Layout {
    return layout(view(this.#part(state), state), viz, this.#cache);
  }

  #part({ root }: Shown): GraphIndex {
    if (root === undefined || !this.traced.nodes.has(root)) return this.traced;
    let part = this.#parts.get(root);
    if (part === undefined) {
      part = index(subgraph(this.traced, root));
      this.#parts.set(root, part);
    }
    return part;
  }
}
