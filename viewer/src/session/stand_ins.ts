/** What is drawn for a node of repeats that are shown as one: its counterpart in the first of them. */
import { ancestors } from "../graph/graph.js";
import type { Session } from "./session.js";

type Runs = ReturnType<Session["runsIn"]>;

/** Ids → those of the nodes that are drawn for them, each once. */
export function standIns(session: Session, ids: readonly string[]): string[] {
  const index = session.visibleGraph();
  const runs = new Map<string, Runs>();
  const runsAt = (container: string) => {
    const known =
      runs.get(container) ?? session.runsIn(container).filter(({ id }) => !session.state.unrolled.includes(id));
    runs.set(container, known);
    return known;
  };
  const standIn = (id: string) => {
    if (!index.nodes.has(id)) return id;
    let stands = id;
    // from the outside in; counterparts have the same distance from the root
    for (let depth = ancestors(index, id).length - 1; depth >= 0; depth -= 1) {
      const path = [stands, ...ancestors(index, stands)];
      stands = inFirst(runsAt(path[depth + 1] ?? ""), path[depth] ?? "", stands, (known) => index.nodes.has(known));
    }
    return stands;
  };
  return [...new Set(ids.map(standIn))];
}

/** The counterpart of a node, if what is around it belongs to a later repeat of a run. */
function inFirst(runs: Runs, around: string, id: string, isKnown: (id: string) => boolean): string {
  for (const { members, times } of runs) {
    const at = members.indexOf(around);
    if (at < 0) continue;
    const first = members[at % (members.length / times)] ?? around;
    const rest = id.slice(around.length);
    const [path = "", call = ""] = first.split(/(?=#\d+$)/);
    return [first + rest, path + rest + call].find(isKnown) ?? id;
  }
  return id;
}
