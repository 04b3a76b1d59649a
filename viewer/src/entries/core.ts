/** Entry of `core.js`: everything that computes on graphs, for the widget. */
import { unfolded } from "../graph/unfold.js";
import { isBroken } from "../layout/layout.js";
import type { Core } from "../session/core.js";
import { opening, Session } from "../session/session.js";
import { inSlices, resumed, type Steps } from "../shared/slices.js";

const unfold: Core["unfold"] = ({ before, graph, ...rest }) => ({
  ...rest,
  graph: unfolded(graph),
  ...(before && { before: unfolded(before) }),
});
const openInSlices: Core["openInSlices"] = (data, compared) => {
  const begun = new Map<string, Steps<Session>>();
  return inSlices(() => resumed(begun, "", () => opening(data, compared)));
};
const open: Core["open"] = (data, compared) => new Session(data, compared);
globalThis.modelDiagramsCore = { unfold, open, openInSlices, inSlices, isBroken };
