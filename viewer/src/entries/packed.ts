/** Entry of `packed.js`, for pages that bring the whole viewer along: starts the widget; the rest waits for a reader. */
import { unpacked } from "../shared/unpack.js";

void unpacked(globalThis.modelDiagramsPacked?.["model-graph.js"] ?? "").then((code) => {
  const script = document.createElement("script");
  script.textContent = code;
  document.head.append(script);
});
