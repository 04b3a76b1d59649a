import type { Difference } from "../diff/difference.js";
import { withChangesOpen } from "../diff/union/opened.js";
import type { Compared } from "../diff/union/union.js";
import { drawItem, picture } from "../draw/draw.js";
import { wireLetters } from "../draw/wire_letters.js";
import { drawLabel, wireParts } from "../draw/wires.js";
import { type ShownCase, shownCases } from "../graph/cases.js";
import { ancestors, type GraphData, type GraphIndex, type OnlyIn } from "../graph/graph.js";
import { index, indexDataSteps, indexGraph } from "../graph/indexing.js";
import { caseIndex } from "../graph/one_case.js";
import { annotate } from "../graph/overlay.js";
import { withNumbers } from "../graph/size_names.js";
import { subgraph } from "../graph/subgraph.js";
import { type Layout, type LayoutCache, layoutCache, layoutSteps, type Viz } from "../layout/layout.js";
import type { Steps } from "../shared/slices.js";
import type { Frame, Item } from "../view/frame.js";
import { withFunctions } from "../view/grouping/functions.js";
import { shownIndex, shownIndexSteps } from "../view/grouping/shown_index.js";
import { localName } from "../view/labels/labels.js";
import { firstMember, runsIn, shownContents } from "../view/repeats/contents.js";
import { view, viewSteps } from "../view/view.js";
import { type ColourScale, classScale } from "./colour_scale.js";
import { type AdditiveLens, Costs, LENSES } from "./costs.js";
import type { DiagramData, SessionState } from "./diagram_data.js";
import { blocks } from "./levels.js";
import { LruMap } from "./lru.js";
import { mapOf } from "./map.js";
import { pathOf, tensorText } from "./naming.js";
import { Reachability } from "./reachability.js";
import { Rolled } from "./rolled.js";
import { reasonsOf } from "./size_facts.js";
import { Transitions } from "./transitions.js";

/**
 * One open diagram: the graph, the state that is shown, and everything that the widget asks about them. `transitions` makes
 * other states, and `show` makes one the current state.
 */

/** Draws a picture and its parts as SVG text. */
const drawing = { picture, drawItem, drawLabel, wireLetters, wireParts, blocks };
export type Drawing = typeof drawing;

/**
 * Cached geometries, for readers who go back and forth and for equal containers close to each other. Those on screen are
 * kept anyway. The outermost container of the largest models takes about 50 kB.
 */
const CACHED_GEOMETRIES = 64;
const CACHED_SUBGRAPHS = 4;

/** Open a diagram, or what changed in it, in steps. */
export function* opening(data: DiagramData, compared?: Compared): Steps<Session> {
  return new Session(data, compared, yield* indexDataSteps(graphOf(data, compared)));
}

function graphOf(data: DiagramData, compared: Compared | undefined): GraphData {
  return compared?.graph ?? annotate(data.graph, data.overlay);
}

export class Session {
  /** The whole traced graph as in its file. */
  readonly data: GraphData;
  /** Its index; for a difference, that of the union. */
  readonly traced: GraphIndex;
  readonly difference: Difference | undefined;
  /** Whether changes that have no effect on results are shown. */
  readonly withDetails: boolean;
  /** What the author chose to show. */
  initial: SessionState;
  readonly drawing: Drawing = drawing;
  readonly #cache: LayoutCache = layoutCache(() => new LruMap(CACHED_GEOMETRIES));
  /** Id of a module or function call → its inside as a separate graph. */
  readonly #subgraphs = new LruMap<string, GraphIndex>(CACHED_SUBGRAPHS);
  #state: SessionState;
  #grouped: GraphIndex | undefined;
  /** Position of the case whose values are shown. */
  inCase: number | undefined;
  readonly #costs = new Map<number | undefined, Costs>();
  #rolled: { state: SessionState; rolled: Rolled } | undefined;
  /** Cache for the last layout. */
  #flow: { layout: Layout; hidden: OnlyIn | undefined; flow: Reachability } | undefined;
  /** The version whose own nodes and edges are hidden, of two. */
  hidden: OnlyIn | undefined;

  readonly transitions = new Transitions(this);
  /** The last completed layout. */
  #laid: { state: SessionState; layout: Layout } | undefined;

  /** @param traced the index, if it was made in steps by `opening` */
  constructor(data: DiagramData, compared?: Compared, traced: GraphIndex = index(graphOf(data, compared))) {
    this.data = data.graph;
    this.traced = traced;
    this.difference = compared?.difference;
    this.withDetails = data.details === true;
    this.initial = data.state;
    this.#state = data.state;
  }

  /** The same diagram at other sizes. @param traced an index of its trace */
  sized(traced: GraphIndex, state: SessionState): Session {
    const other = new Session({ graph: this.data, state: this.initial }, undefined, traced);
    other.#state = state;
    return other;
  }

  /** The trace with calls of functions as nodes, unless the author leaves them out. */
  get grouped(): GraphIndex {
    this.#grouped ??= indexGraph(withFunctions(this.traced.graph, () => this.initial.functions !== false));
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

  /** The layout of the current state, once it is complete. */
  get laidOut(): Layout | undefined {
    return this.#laid?.state === this.#state ? this.#laid.layout : undefined;
  }

  /** Lay out the current state. Another state may become current meanwhile, and remains so. */
  *layOut(viz: Viz | null): Steps<Layout> {
    if (this.laidOut !== undefined) return this.laidOut;
    const state = this.#state;
    const layout = yield* this.layOutState(state, viz);
    if (state === this.#state) this.#laid = { state, layout };
    return layout;
  }

  /** Lay out another state and make it the current one, unless this throws. */
  *show(next: (session: Session) => SessionState, viz: Viz | null): Steps<Layout> {
    // so that `next` finds it
    yield* shownIndexSteps(this.#subgraph(this.#state), this.#state);
    const state = next(this);
    const layout = yield* this.layOutState(state, viz);
    this.#state = state;
    this.#laid = { state, layout };
    return layout;
  }

  /** The layout of any state. */
  *layOutState(state: SessionState, viz: Viz | null): Steps<Layout> {
    return yield* layoutSteps(yield* viewSteps(this.#subgraph(state), state), viz, this.#cache);
  }

  /** The contents of the current picture, without positions. */
  get frame(): Frame {
    return view(this.#subgraph(this.#state), this.#state).root;
  }

  /** A map of the current picture as SVG text. Areas are shares of the cost of the lens, else of the parameters. */
  map(size: { width: number; height: number }, colours = ""): string {
    const lens = LENSES.find((each) => each === colours);
    const shown = this.visibleGraph();
    // costs of the whole trace would delay the first map
    const costs = lens === undefined ? new Costs(shown) : this.costs;
    const of = (item: Item, measure: AdditiveLens) => costs.amount(this.rolled().box(item).ids, measure, shown);
    const total = (measure: AdditiveLens) => costs.total(measure);
    return mapOf(this.frame.items, { of, total }, lens === "intensity" ? "flops" : lens, size);
  }

  /** The edges of the current picture. */
  flow(layout: Layout): Reachability {
    const { hidden } = this;
    if (this.#flow?.layout.root !== layout.root || this.#flow.hidden !== hidden)
      this.#flow = { layout, hidden, flow: new Reachability(layout, hidden) };
    return this.#flow.flow;
  }

  /** Begin with containers of changes open, and everything else closed. */
  *openChanges(viz: Viz): Steps<void> {
    const closed = { ...this.initial, expanded: [], unrolled: [], functions: false };
    this.initial = yield* withChangesOpen(this.traced, closed, (state) => this.layOutState(state, viz));
    this.#state = this.initial;
  }

  // -- questions ------------------------------------------------------------------------------------------------------

  /** Ids of the modules around a node, innermost first; that of the root is empty. */
  ancestors(id: string): string[] {
    return ancestors(this.traced, id);
  }

  /** The isolated module and the modules around it, outermost first. */
  isolatedPath(): { id: string; name: string }[] {
    const { root } = this.#state;
    if (root === undefined) return [];
    const graph = this.traced.nodes.has(root) ? this.traced : this.grouped;
    return [root, ...ancestors(graph, root)].reverse().flatMap((id) => {
      const node = graph.nodes.get(id);
      if (node?.kind === "function") return [{ id, name: node.name }];
      return node?.kind === "module" ? [{ id, name: localName(graph, node) }] : [];
    });
  }

  /** The first node of a run of repeats. */
  firstOfRun(run: string): string {
    return firstMember(run);
  }

  /** The run of repeats with this id, or of which a node is a member. */
  runOf(name: string): string | undefined {
    const head = firstMember(name);
    const parent = this.grouped.parent.get(head);
    if (parent === undefined) return undefined;
    const runs = runsIn(shownContents(this.grouped, parent, new Set()));
    return (runs.find(({ id }) => id === name) ?? runs.find(({ members }) => members.includes(head)))?.id;
  }

  /** The graph of one case: here, so that only the core contains what makes it. */
  readonly caseIndex = caseIndex;

  /** The trace of the case whose costs are told. */
  get costed(): GraphIndex {
    const position = this.inCase ?? this.firstCase?.position;
    return position === undefined ? this.traced : caseIndex(this.traced, position);
  }

  /** The costs of the trace: of several cases, those of the chosen one, else of the first. */
  get costs(): Costs {
    return this.costsIn(this.inCase ?? this.firstCase?.position);
  }

  /** @param position of a case; absent if there is one pass only */
  costsIn(position: number | undefined): Costs {
    const known = this.#costs.get(position);
    const costs = known ?? new Costs(position === undefined ? this.grouped : caseIndex(this.grouped, position));
    this.#costs.set(position, costs);
    return costs;
  }

  /** The first of several cases. */
  get firstCase(): ShownCase | undefined {
    const shown = shownCases(this.traced.graph);
    return shown.length > 1 ? shown[0] : undefined;
  }

  /** The rolled repeats of a state. */
  rolled(state: SessionState = this.#state): Rolled {
    if (this.#rolled?.state !== state)
      this.#rolled = { state, rolled: new Rolled(this.visibleGraph(state), state.unrolled) };
    return this.#rolled.rolled;
  }

  /** The graph that has a node: the trace has no bundles and no function calls. */
  indexOf(id: string): GraphIndex {
    return id === "" || this.traced.nodes.has(id) ? this.#worded(this.traced) : this.visibleGraph();
  }

  /** The name of a node, or that of the model if the id is empty. */
  title(id: string): string {
    const node = this.indexOf(id).nodes.get(id);
    return node === undefined ? this.traced.graph.model.name : pathOf(node);
  }

  /** A tensor's name, shape and dtype, and why it has no names. */
  tensorText(tensor: string): string {
    const index = this.#worded(this.traced);
    return [tensorText(index, tensor), ...reasonsOf(index, tensor)].join("\n");
  }

  /** The scale that colours nodes by class. */
  classScale(ids: Iterable<string>): ColourScale {
    return classScale(this.grouped, ids);
  }

  /** With numbers instead of names of sizes, if the state has them. */
  #worded(index: GraphIndex): GraphIndex {
    return this.#state.numbers ? withNumbers(index) : index;
  }

  #subgraph({ root }: SessionState): GraphIndex {
    if (root === undefined) return this.traced;
    let part = this.#subgraphs.get(root);
    if (part === undefined) {
      const around = this.traced.nodes.has(root) ? this.traced : this.grouped;
      if (!around.nodes.has(root)) return this.traced;
      part = indexGraph(subgraph(around, root));
      this.#subgraphs.set(root, part);
    }
    return part;
  }
}
