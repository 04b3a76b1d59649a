/** Entry of `core.js`: everything that computes on graphs, for the widget. */
import { unfolded } from "../graph/unfold.js";
import { isBroken } from "../layout/layout.js";
import type { Core } from "../session/core.js";
import { Session } from "../session/session.js";

const unfold: Core["unfold"] = ({ before, graph, ...rest }) => ({
  ...rest,
  graph: unfolded(graph),
  ...(before && { before: unfolded(before) }),
});
globalThis.modelDiagramsCore = { unfold, open: (data, compared) => new Session(data, compared), isBroken };
