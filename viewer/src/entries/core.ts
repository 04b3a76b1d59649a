/** Entry of `core.js`: all computation on graphs for the widget. */
import { unfoldGraph } from "../graph/unfold.js";
import { isBroken } from "../layout/layout.js";
import type { Core } from "../session/core.js";
import type { DiagramData, FoldedData } from "../session/diagram_data.js";
import { engineIn } from "../session/engine_in.js";
import { opening } from "../session/session.js";
import { inSlices, type Steps } from "../shared/slices.js";

const unfold: Core["unfold"] = async (data, notes) => {
  data.overlay?.images?.forEach((image, i) => {
    image.source ||= document.getElementById(`${notes}-image-${i + 1}`)?.querySelector("img")?.src ?? "data:,";
  });
  return inSlices(unfolding(data));
};
const open: Core["open"] = (data, compared) => inSlices(opening(data, compared));

function* unfolding({ before, graph, ...rest }: FoldedData): Steps<DiagramData> {
  return { ...rest, graph: yield* unfoldGraph(graph), ...(before && { before: yield* unfoldGraph(before) }) };
}

globalThis.modelDiagramsCore = { unfold, open, inSlices, engineIn, isBroken };
