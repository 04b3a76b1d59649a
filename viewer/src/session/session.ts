/**
 * One open diagram: the graph, what of it is shown, and everything the widget asks about them. The methods named
 * `with…` return another state and change nothing; `show` makes a state the current one.
 */
import type { Compared } from "../diff/compared.js";
import type { Difference } from "../diff/difference.js";
import { withChangesOpen } from "../diff/union/opened.js";
import { draw, drawItem, picture } from "../draw/draw.js";
import { drawLabel, wireParts } from "../draw/wires.js";
import { ancestors, type GraphData, type GraphIndex, type OnlyIn } from "../graph/graph.js";
import { indexed, indexingData } from "../graph/indexing.js";
import { annotated } from "../graph/overlay.js";
import { subgraph } from "../graph/subgraph.js";
import { type Layout, type LayoutCache, layout, layoutCache, type Viz } from "../layout/layout.js";
import { atOnce, type Steps } from "../shared/slices.js";
import { toggle, toggleRun } from "../view/expand/toggle.js";
import type { Frame, Item } from "../view/frame.js";
import { withFunctions } from "../view/grouping/functions.js";
import { shownIndex } from "../view/grouping/shown_index.js";
import { localName } from "../view/labels/labels.js";
import { firstMember, runsIn, shownContents } from "../view/repeats/contents.js";
import { view } from "../view/view.js";
import { classScale, type Scale } from "./colour_scale.js";
import { Costs, LENSES, type Measure } from "./costs.js";
import type { DiagramData, SessionState } from "./diagram_data.js";
import { blocks } from "./levels.js";
import { LruMap } from "./lru.js";
import { mapOf } from "./map.js";
import { pathOf, tensorText } from "./naming.js";
import { Flow } from "./reachability.js";
import { Rolled } from "./rolled.js";
import * as transitions from "./transitions.js";

/** Draws a picture and its parts as SVG text. */
const drawing = { picture, drawItem, drawLabel, wireParts, blocks };
export type Drawing = typeof drawing;

/**
 * Geometries kept for readers who go back and forth, and for equal containers, which follow each other closely. Those on
 * screen are kept anyway. The largest models' outermost container takes about 50 kB.
 */
const CACHED_GEOMETRIES = 64;
const CACHED_SUBGRAPHS = 4;

/** Open a diagram, or what changed in it, in steps. */
export function* opening(data: DiagramData, compared?: Compared): Steps<Session> {
  return new Session(data, compared, yield* indexingOf(data, compared));
}

function indexingOf(data: DiagramData, compared: Compared | undefined): Steps<GraphIndex> {
  return indexingData(compared?.graph ?? annotated(data.graph, data.overlay));
}

export class Session {
  /** The whole graph as it was traced, as its file has it. */
  readonly data: GraphData;
  /** The same with its index; what is gone is in it, too, where a difference is shown. */
  readonly traced: GraphIndex;
  readonly difference: Difference | undefined;
  /** Whether changes that have no effect on results are shown. */
  readonly withDetails: boolean;
  /** What the author chose to show. */
  initial: SessionState;
  readonly drawing: Drawing = drawing;
  readonly #cache: LayoutCache = layoutCache(() => new LruMap(CACHED_GEOMETRIES));
  /** Id of a module or function call → its inside as a graph of its own. */
  readonly #subgraphs = new LruMap<string, GraphIndex>(CACHED_SUBGRAPHS);
  #state: SessionState;
  #grouped: GraphIndex | undefined;
  #costs: Costs | undefined;
  #rolled: { state: SessionState; rolled: Rolled } | undefined;
  /** Cache of the last layout's flow. */
  #flow: { root: Layout["root"]; hidden: OnlyIn | undefined; flow: Flow } | undefined;
  /** Of two versions, the one whose own nodes and edges are hidden. */
  hidden: OnlyIn | undefined;

  /** Cache of the current state's layout: another one may be in the making. */
  #laid: { state: SessionState; layout: Layout } | undefined;

  /** @param traced the index, where it was made in steps: `opening` */
  constructor(data: DiagramData, compared?: Compared, traced: GraphIndex = atOnce(indexingOf(data, compared))) {
    this.data = data.graph;
    this.traced = traced;
    this.difference = compared?.difference;
    this.withDetails = data.details === true;
    this.initial = data.state;
    this.#state = data.state;
  }

  /** The trace with calls of functions as nodes, unless the author leaves them out. */
  get grouped(): GraphIndex {
    this.#grouped ??= indexed(withFunctions(this.traced.graph, () => this.initial.functions !== false));
    return this.#grouped;
  }

  get state(): SessionState {
    return this.#state;
  }

  // -- the picture ----------------------------------------------------------------------------------------------------

  /** The graph that a state shows: the model or one module, without what the state hides. */
  visibleGraph(state: SessionState = this.#state): GraphIndex {
    return shownIndex(this.#subgraph(state), state);
  }

  /** The layout of the current state. */
  layout(viz: Viz): Layout {
    if (this.#laid?.state !== this.#state) this.#laid = { state: this.#state, layout: this.layoutOf(this.#state, viz) };
    return this.#laid.layout;
  }

  /** Whether asking for the current layout takes no time. */
  get isLaidOut(): boolean {
    return this.#laid?.state === this.#state;
  }

  /** What the current picture shows, without positions. */
  get frame(): Frame {
    return view(this.#subgraph(this.#state), this.#state).root;
  }

  /** The layout of any state. */
  layoutOf(state: SessionState, viz: Viz | null): Layout {
    return layout(view(this.#subgraph(state), state), viz, this.#cache);
  }

  /** The picture of the current state, as SVG text. */
  svg(viz: Viz): string {
    return draw(this.layout(viz));
  }

  /** A map of the current picture as SVG text. Areas are shares of the cost that gives colours, else of the parameters. */
  map(size: { width: number; height: number }, colours = ""): string {
    const lens = LENSES.find((each) => each === colours);
    const shown = this.visibleGraph();
    // costs of the whole trace take longer, and the first map shall not
    const costs = lens === undefined ? new Costs(shown) : this.costs;
    const of = (item: Item, measure: Measure) => costs.amount(this.rolled().box(item).ids, measure, shown);
    const total = (measure: Measure) => costs.total(measure);
    return mapOf(this.frame.items, { of, total }, lens === "intensity" ? "flops" : lens, size);
  }

  /** Lay out a state and make it the current one; the old one stays where this throws. */
  show(state: SessionState, viz: Viz): Layout {
    const made = this.layoutOf(state, viz);
    this.#state = state;
    this.#laid = { state, layout: made };
    return made;
  }

  /** The edges of the current picture. */
  flow(viz: Viz): Flow {
    const layout = this.layout(viz);
    const { root } = layout;
    const { hidden } = this;
    if (this.#flow?.root !== root || this.#flow.hidden !== hidden)
      this.#flow = { root, hidden, flow: new Flow(layout, hidden) };
    return this.#flow.flow;
  }

  // -- other states ---------------------------------------------------------------------------------------------------

  /** A module expanded or collapsed. */
  withToggled(id: string): SessionState {
    return toggle(this.visibleGraph(), this.#state, id);
  }

  /** A run of repeats shown one by one, or as one. */
  withToggledRun(run: string): SessionState {
    return toggleRun(this.visibleGraph(), this.#state, run);
  }

  /** A module and every module inside it expanded. */
  withExpandedBelow(id: string): SessionState {
    return transitions.expandBelow(this.visibleGraph(), this.#state, id);
  }

  /** A module and every module inside it collapsed. */
  withCollapsedBelow(id: string): SessionState {
    return transitions.collapseBelow(this.visibleGraph(), this.#state, id);
  }

  /** A module and its siblings expanded. */
  withExpandedSiblings(id: string): SessionState {
    return transitions.expandSiblings(this.visibleGraph(), this.#state, id);
  }

  /** Exactly this many levels expanded, everywhere. */
  withLevels(depth: number): SessionState {
    return transitions.expandTo(this.visibleGraph(), this.#state, depth);
  }

  /** A node made visible, whatever hides it. */
  withNode(id: string, state: SessionState = this.#state): SessionState {
    return transitions.withNode(this, state, id);
  }

  /** One module or function call as the whole picture; the whole model without an id. */
  withIsolated(id: string | undefined, state: SessionState = this.#state): SessionState {
    return transitions.isolate(this, state, id);
  }

  /** Begin with what holds changes open, and all else closed. */
  openChanges(viz: Viz): void {
    const closed = { ...this.initial, expanded: [], unrolled: [], functions: false };
    this.initial = withChangesOpen(this.traced, closed, (state) => this.layoutOf(state, viz));
    this.#state = this.initial;
  }

  // -- questions ------------------------------------------------------------------------------------------------------

  /** Whether a node can be the whole picture. */
  canIsolate(id: string): boolean {
    return transitions.canIsolate(this, id);
  }

  /** The visible node that a node is, or is inside of. */
  visibleAncestor(id: string, isVisible: (id: string) => boolean): string | undefined {
    return transitions.visibleAncestor(this, id, isVisible);
  }

  /** Ids of the modules around a node, from the inside out; the root's is empty. */
  ancestors(id: string): string[] {
    return ancestors(this.traced, id);
  }

  /** What is isolated and what is around it, from the outside in. */
  isolatedPath(): { id: string; name: string }[] {
    const { root } = this.#state;
    if (root === undefined) return [];
    const index = this.traced.nodes.has(root) ? this.traced : this.grouped;
    return [root, ...ancestors(index, root)].reverse().flatMap((id) => {
      const node = index.nodes.get(id);
      if (node?.kind === "function") return [{ id, name: node.name }];
      return node?.kind === "module" ? [{ id, name: localName(index, node) }] : [];
    });
  }

  /** The first node of a run of repeats. */
  firstOfRun(run: string): string {
    return firstMember(run);
  }

  /** The run of repeats with this id, or that a node is a member of. */
  runOf(name: string): string | undefined {
    const head = firstMember(name);
    const parent = this.grouped.parent.get(head);
    if (parent === undefined) return undefined;
    const runs = runsIn(shownContents(this.grouped, parent, new Set()));
    return (runs.find(({ id }) => id === name) ?? runs.find(({ members }) => members.includes(head)))?.id;
  }

  /** The costs of the trace. */
  get costs(): Costs {
    this.#costs ??= new Costs(this.grouped);
    return this.#costs;
  }

  /** What a state shows as one. */
  rolled(state: SessionState = this.#state): Rolled {
    if (this.#rolled?.state !== state)
      this.#rolled = { state, rolled: new Rolled(this.visibleGraph(state), state.unrolled) };
    return this.#rolled.rolled;
  }

  /** The graph that knows a node: the trace has no bundles and no calls of functions. */
  indexOf(id: string): GraphIndex {
    return id === "" || this.traced.nodes.has(id) ? this.traced : this.visibleGraph();
  }

  /** The name of a node, or that of the model where the id is empty. */
  title(id: string): string {
    const node = this.indexOf(id).nodes.get(id);
    return node === undefined ? this.traced.graph.model.name : pathOf(node);
  }

  /** A tensor's name, shape and dtype. */
  tensorText(tensor: string): string {
    return tensorText(this.traced, tensor);
  }

  /** The scale that colours the nodes with these ids by class. */
  classScale(ids: Iterable<string>): Scale {
    return classScale(this.grouped, ids);
  }

  #subgraph({ root }: SessionState): GraphIndex {
    if (root === undefined) return this.traced;
    let part = this.#subgraphs.get(root);
    if (part === undefined) {
      const index = this.traced.nodes.has(root) ? this.traced : this.grouped;
      if (!index.nodes.has(root)) return this.traced;
      part = indexed(subgraph(index, root));
      this.#subgraphs.set(root, part);
    }
    return part;
  }
}
