/** Finds the box of a picture that shows the costs of a node. */
import { ROOT } from "../../graph/graph.js";
import type { Session } from "../../session/session.js";

/** The closed box that shows a node: the nearest one around it in `boxOf` (node → box). */
export function boxAround(session: Session, boxOf: ReadonlyMap<string, string>, id: string): string | undefined {
  // the picture's graph has bundles, the whole graph has hidden nodes
  const [shown, whole] = [session.visibleGraph().parent, session.grouped.parent];
  let at: string | undefined = id;
  while (at !== undefined && at !== ROOT && !boxOf.has(at)) at = shown.get(at) ?? whole.get(at);
  return boxOf.get(at ?? ROOT);
}
