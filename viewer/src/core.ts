/** Entry of `core.js`: from graph to picture, for the widget, which fetches it at the first need. */
import * as draw from "./draw.js";
import * as families from "./families.js";
import * as graph from "./graph.js";
import * as labels from "./labels.js";
import * as layout from "./layout.js";
import * as roll from "./roll.js";
import * as surface from "./surface.js";
import * as view from "./view.js";

globalThis.modelDiagramsCore = { ...draw, ...families, ...graph, ...labels, ...layout, ...roll, ...surface, ...view };
