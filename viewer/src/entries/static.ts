import type { Overlay } from "../../generated/overlay.js";
import { differenceOf } from "../diff/difference.js";
import { unionState } from "../diff/union/opened.js";
import { comparedGraphs } from "../diff/union/union.js";
import { type DrawOptions, type Picture, picture } from "../draw/draw.js";
import type { Theme } from "../draw/palette.js";
import { stepPicture } from "../draw/step_picture.js";
import { drawCard } from "../flat/card.js";
import { flatPainter, type Typeface, themeColours } from "../flat/flat_painter.js";
import { makeTypeface } from "../flat/typeface.js";
import { childrenOf, type GraphData, type GraphIndex, type GraphNode } from "../graph/graph.js";
import { index } from "../graph/indexing.js";
import { annotate } from "../graph/overlay.js";
import { isBroken, type LayoutCache, layout, layoutCache, type Viz } from "../layout/layout.js";
import type { TourStep } from "../session/diagram_data.js";
import type { NumberLens } from "../session/numbers.js";
import { Session } from "../session/session.js";
import { drawnIn, type StepOptions, stepOf, type Unfound, unfound } from "../session/steps.js";
import { initialState } from "../view/expand/initial_state.js";
import type { Frame } from "../view/frame.js";
import { shownIndex } from "../view/grouping/shown_index.js";
import type { ViewOptions } from "../view/options.js";
import { type OutlineRow, outlineRows } from "../view/outline_rows.js";
import type { State } from "../view/state.js";
import { view } from "../view/view.js";
import { throughLens } from "../widget/lenses/still.js";
import "./polyfills.js";
import { instance } from "@viz-js/viz";

/** Entry for the embedded V8: graph and request as JSON text in, the picture as JSON text out. */

/** A request from Python. */
interface RenderRequest {
  view: ViewOptions;
  /** The state to draw instead of the initial state. */
  state: State | null;
  /** Theme of a flat picture; null for pages. */
  flat: { theme: Theme; outlines: boolean } | null;
  /** JSON of an earlier graph: the picture shows the changes since, with or without those that have no effect. */
  before?: string | null;
  /** The author's annotations. */
  overlay?: Overlay | null;
  details?: boolean;
  /** Sentences under the picture, for files. */
  remarks?: readonly string[];
  /** Steps of a tour, each with its own picture; a flat picture is that of the first. */
  steps?: StepOptions[];
}

interface RenderedStep extends Picture, TourStep {
  unfound: Unfound | null;
}

interface Rendered extends Picture {
  /** The initial state of the widget. */
  state: State;
  /** Members of each rolled repeat, by its id. */
  rolled: Record<string, string[]>;
  /** Members of each bundle, by its id. */
  bundled: Record<string, string[]>;
  outline: OutlineRow[];
  steps: RenderedStep[];
  /** The author's numbers that colour it. */
  lens?: NumberLens;
}

interface Drawing {
  data: GraphData;
  graph: GraphIndex;
  /** Draws steps, and counts crashes. */
  session?: Session;
  request: RenderRequest;
  /** Retries terminate because the cache counts crashes: after two, a container is laid out without dot. */
  cache: LayoutCache;
}

let viz: Viz | null = null;
let ready = start();
let drawing: Drawing | null = null;
let typeface: Typeface | null = null;

async function start(): Promise<void> {
  viz = await instance();
}

/** Draws a graph; returns `Rendered` as JSON. Empty if dot crashed: wait for `ready` again, then call `retry`. */
function render(graphJson: string, requestJson: string): string {
  const request = JSON.parse(requestJson) as RenderRequest;
  const data = shownGraph(graphJson, request);
  drawing = { data, graph: index(data), request, cache: layoutCache() };
  return retry();
}

function shownGraph(graphJson: string, { before = null, details = false, overlay }: RenderRequest): GraphData {
  if (before !== null) return comparedGraphs(before, graphJson, details).graph;
  return annotate(JSON.parse(graphJson) as GraphData, overlay);
}

/** Repeats the last `render`. Synchronous, because V8 can only interrupt code before the first `await`. */
function retry(): string {
  if (viz === null || drawing === null) throw new Error("expected `modelDiagrams.ready` to be resolved before drawing");
  try {
    return JSON.stringify(rendered(drawing, viz));
  } catch (error) {
    if (!isBroken(viz)) throw error;
    viz = null;
    ready = start();
    return "";
  }
}

function rendered(asked: Drawing, engine: Viz): Rendered {
  const { graph, request, cache } = asked;
  const layOut = (state: State) => layout(view(graph, state), engine, cache);
  const first = graph.graph.marks === undefined ? initialState : unionState;
  const state = request.state ?? first(graph, request.view, layOut);
  const laidOut = layOut(state);
  const { flat, steps = [] } = request;
  const shown = (wanted: StepOptions) => {
    asked.session ??= new Session({ graph: asked.data, state });
    return renderedStep(asked.session, wanted, engine, request);
  };
  const whole = () => {
    const drawing = { ...optionsOf(request), remarks: request.remarks };
    if (!graph.graph.numbers?.length) return picture(laidOut, drawing);
    asked.session ??= new Session({ graph: asked.data, state }, undefined, graph);
    const { layout, legend, remarks = [] } = throughLens(asked.session, state, laidOut, NUMBERS);
    return {
      ...picture(layout, { ...drawing, legend, remarks: [...remarks, ...(request.remarks ?? [])] }),
      lens: NUMBERS,
    };
  };
  return {
    ...(flat && steps[0] ? shown(steps[0]) : whole()),
    state,
    rolled: rolledIn(laidOut.root.frame),
    bundled: bundledIn(shownIndex(graph, state)),
    outline: outlineRows(graph),
    steps: flat ? [] : steps.map(shown),
  };
}

/** Pictures show the first numbers. */
const NUMBERS: NumberLens = "numbers0";

function renderedStep(session: Session, wanted: StepOptions, engine: Viz, request: RenderRequest): RenderedStep {
  const { step, layout } = stepOf(session, wanted, engine);
  const { lens } = step;
  const seen = lens === null ? { layout, legend: undefined } : throughLens(session, step.state, layout, lens);
  const options = { ...optionsOf(request), legend: seen.legend };
  const drawn = stepPicture(seen.layout, { ...step, boxes: drawnIn(layout.root) }, options);
  return { ...drawn, ...step, unfound: unfound(session, wanted) };
}

function rolledIn({ items }: Frame): Record<string, string[]> {
  const here = items.filter(({ members }) => members.length > 1).map(({ run, members }) => [run, members]);
  return Object.assign(Object.fromEntries(here), ...items.map(({ frame }) => (frame === null ? {} : rolledIn(frame))));
}

function bundledIn(shown: GraphIndex): Record<string, string[]> {
  const bundles = shown.graph.nodes.filter(({ kind }) => kind === "bundle");
  const isBundle = (node: GraphNode | undefined) => node?.kind === "bundle";
  return Object.fromEntries(bundles.map(({ id }) => [id, childrenOf(shown, id, isBundle)]));
}

/** The outline of a graph that isn't drawn; returns its rows as JSON. */
function outline(graphJson: string): string {
  return JSON.stringify(outlineRows(index(JSON.parse(graphJson) as GraphData)));
}

/** The small picture of a graph in lists, as SVG. */
function card(graphJson: string): string {
  return drawCard(index(JSON.parse(graphJson) as GraphData), (shown) => layout(shown, viz));
}

/** What changed between two graphs; returns `Difference` as JSON. */
function difference(before: string, after: string): string {
  return JSON.stringify(differenceOf(before, after));
}

function optionsOf({ view, flat }: RenderRequest): DrawOptions {
  if (flat === null) return { page: view.fit };
  if (typeface === null) throw new Error("expected `modelDiagrams.useFonts` before the first flat picture");
  const colours = themeColours(flat.theme, view.palette);
  return { page: view.fit, painter: flatPainter(colours, { typeface, outlines: flat.outlines }) };
}

function hasFonts(): boolean {
  return typeface !== null;
}

/** Sets the fonts from TrueType files, each as a string with one character per byte. */
function useFonts(regular: string, semibold: string): void {
  const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0)).buffer;
  typeface = makeTypeface(bytes(regular), bytes(semibold));
}

(globalThis as Record<string, unknown>).modelDiagrams = {
  get ready() {
    return ready;
  },
  render,
  retry,
  outline,
  card,
  difference,
  hasFonts,
  useFonts,
};
