/** Entry for the embedded V8: graph and view as JSON text in, the picture as JSON text out. */
import "./polyfills.js";
import { instance } from "@viz-js/viz";
import { type Picture, picture } from "./draw.js";
import { type Graph, type GraphIndex, index } from "./graph.js";
import { initialState, type ViewOptions } from "./initial.js";
import { isBroken, layout, type Viz } from "./layout.js";
import { type State, view } from "./view.js";

let viz: Viz | null = null;

function start(): Promise<void> {
  return instance().then((made) => {
    viz = made;
  });
}

const ready = start();

/**
 * Draw a graph: `{svg, width, height, state}`, the state being where the widget starts from. `null` where dot broke down:
 * a new instance of it is there at the next call, which is to ask for the same again.
 */
function render(graphJson: string, viewJson: string): string {
  // without this, a picture drawn too early would differ from the widget's
  if (viz === null) throw new Error("expected `modelDiagrams.ready` to be resolved before the first picture");
  try {
    return JSON.stringify(drawn(index(JSON.parse(graphJson) as Graph), JSON.parse(viewJson) as ViewOptions, viz));
  } catch (error) {
    if (!isBroken(viz)) throw error;
    viz = null;
    void start();
    return "null";
  }
}

function drawn(graph: GraphIndex, options: ViewOptions, engine: Viz): Picture & { state: State } {
  const state = initialState(graph, options, engine);
  const made = picture(layout(view(graph, state), engine));
  return { ...(options.fit == null ? made : shrunk(made, options.fit)), state };
}

/** The picture, no larger than a page. */
function shrunk({ svg, width, height }: Picture, [across, down]: readonly [number, number]): Picture {
  const scale = Math.min(1, across / width, down / height);
  const [w, h] = [width, height].map((length) => Math.floor(length * scale * 100) / 100);
  const size = `width="${w}" height="${h}"`;
  return { svg: svg.replace(/width="[^"]*" height="[^"]*"/, size), width: w ?? width, height: h ?? height };
}

(globalThis as Record<string, unknown>).modelDiagrams = { ready, render };
