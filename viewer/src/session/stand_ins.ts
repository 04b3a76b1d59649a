/** Repeats that are shown as one: what is drawn for a node, and what a drawn node stands for. */
import { ancestors, type GraphIndex } from "../graph/graph.js";
import type { Session } from "./session.js";

/** A child of a container in the repeats of a folded run, from the first to the last. */
type Repeats = (container: string, child: string) => string[];

/** Ids → those of the nodes that are drawn for them, each once. */
export function standIns(session: Session, ids: readonly string[]): string[] {
  const index = session.visibleGraph();
  const repeats = repeatsIn(session);
  const standIn = (id: string) => {
    if (!index.nodes.has(id)) return id;
    let stands = id;
    // from the outside in; counterparts have the same distance from the root
    for (let depth = ancestors(index, id).length - 1; depth >= 0; depth -= 1) {
      const path = [stands, ...ancestors(index, stands)];
      const [around = "", container = ""] = path.slice(depth);
      const [first = around] = repeats(container, around);
      stands = counterpart(index, stands, around, first) ?? stands;
    }
    return stands;
  };
  return [...new Set(ids.map(standIn))];
}

/** All that a drawn node stands for, itself first. */
export function standsFor(session: Session, id: string): string[] {
  const index = session.visibleGraph();
  if (!index.nodes.has(id)) return [id];
  const repeats = repeatsIn(session);
  const path = [id, ...ancestors(index, id)];
  let found = [id];
  path.slice(0, -1).forEach((around, i) => {
    const members = repeats(path[i + 1] ?? "", around);
    if (members.length > 1)
      found = members.flatMap((member) => found.flatMap((one) => counterpart(index, one, around, member) ?? []));
  });
  return found;
}

/** Looked for once in each container. */
function repeatsIn(session: Session): Repeats {
  const known = new Map<string, Map<string, string[]>>();
  return (container, child) => {
    const found = known.get(container) ?? foldedIn(session, container);
    known.set(container, found);
    return found.get(child) ?? [];
  };
}

function foldedIn(session: Session, container: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { id, members, times } of session.runsIn(container)) {
    if (session.state.unrolled.includes(id)) continue;
    const period = members.length / times;
    members.forEach((member, at) => {
      found.set(
        member,
        members.filter((_, other) => other % period === at % period),
      );
    });
  }
  return found;
}

/** The node in another repeat: `layers.3.norm` for `layers.0.norm`, and `norm#2` in the second call of what is around. */
function counterpart({ nodes }: GraphIndex, id: string, around: string, member: string): string | undefined {
  const rest = id.slice(around.length);
  const [path = "", call = ""] = member.split(/(?=#\d+$)/);
  return [member + rest, path + rest + call].find((known) => nodes.has(known));
}
