/** Entry of `core.js`: everything that computes on graphs, for the widget. */
import { unfolding } from "../graph/unfold.js";
import { isBroken } from "../layout/layout.js";
import type { Core } from "../session/core.js";
import type { DiagramData, FoldedData } from "../session/diagram_data.js";
import { engineIn } from "../session/engine_in.js";
import { opening, Session } from "../session/session.js";
import { inSlices, Pause, resumed, type Steps } from "../shared/slices.js";

const unfold: Core["unfold"] = async (data, notes) => {
  data.overlay?.images?.forEach((image, i) => {
    image.source ||= document.getElementById(`${notes}-image-${i + 1}`)?.querySelector("img")?.src ?? "data:,";
  });
  return stepByStep(() => unfoldingData(data));
};
const openInSlices: Core["openInSlices"] = (data, compared) => stepByStep(() => opening(data, compared));
const pauseOf: Core["pauseOf"] = (error) => (error instanceof Pause ? error.until : undefined);
const open: Core["open"] = (data, compared) => new Session(data, compared);

function* unfoldingData({ before, graph, ...rest }: FoldedData): Steps<DiagramData> {
  return { ...rest, graph: yield* unfolding(graph), ...(before && { before: yield* unfolding(before) }) };
}

function stepByStep<T>(begin: () => Steps<T>): Promise<T> {
  const begun = new Map<string, Steps<T>>();
  return inSlices(() => resumed(begun, "", begin));
}

globalThis.modelDiagramsCore = { unfold, open, openInSlices, inSlices, engineIn, pauseOf, isBroken };
