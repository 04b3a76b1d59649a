/** Entry for the embedded V8: graph and view as JSON text in, the picture as JSON text out. */
import "./polyfills.js";
import { instance } from "@viz-js/viz";
import { type Picture, picture } from "./draw.js";
import { type Graph, index } from "./graph.js";
import { initialState, type ViewOptions } from "./initial.js";
import { isBroken, layout, type Viz } from "./layout.js";
import { view } from "./view.js";

let viz: Viz | null = null;

function start(): Promise<void> {
  return instance().then((made) => {
    viz = made;
  });
}

const ready = start();

/** Draw a graph: `{svg, width, height, state}`, the state being where the widget starts from. */
function render(graphJson: string, viewJson: string): string {
  // without this, a picture drawn too early would differ from the widget's
  if (viz === null) throw new Error("expected `modelDiagrams.ready` to be resolved before the first picture");
  const graph = index(JSON.parse(graphJson) as Graph);
  const options = JSON.parse(viewJson) as ViewOptions;
  const state = initialState(graph, options, viz);
  const drawn = picture(layout(view(graph, state), viz));
  // until the new one is there, pictures get the plain layout
  if (isBroken(viz)) void start();
  return JSON.stringify({ ...(options.fit == null ? drawn : shrunk(drawn, options.fit)), state });
}

/** The picture, no larger than a page. */
function shrunk({ svg, width, height }: Picture, [across, down]: readonly [number, number]): Picture {
  const scale = Math.min(1, across / width, down / height);
  const [w, h] = [width, height].map((length) => Math.floor(length * scale * 100) / 100);
  const size = `width="${w}" height="${h}"`;
  return { svg: svg.replace(/width="[^"]*" height="[^"]*"/, size), width: w ?? width, height: h ?? height };
}

(globalThis as Record<string, unknown>).modelDiagrams = { ready, render };
