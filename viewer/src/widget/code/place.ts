/** Which lines of code a node shows. */
import { contentsOf, type GraphIndex } from "../../graph/graph.js";

/** Place in the code, as nodes name it → the lines there. */
export type Code = Readonly<Record<string, readonly string[]>>;

/**
 * The place whose code says most about a node: where it is written or called; for a library's module, the line from which
 * all its ops come. Undefined if the page has no such code.
 */
export function codePlaceOf(index: GraphIndex, id: string, code: Code): string | undefined {
  const own = sourceOf(index, id);
  if (own !== undefined && own in code) return own;
  if (index.nodes.get(id)?.kind !== "module") return undefined;
  const [only, other] = placesIn(index, id);
  return only !== undefined && other === undefined && only in code ? only : undefined;
}

/** The places of the ops in a module; at most two. */
function placesIn(index: GraphIndex, id: string): Set<string> {
  const found = new Set<string>();
  const open = [id];
  for (let at = open.pop(); at !== undefined && found.size < 2; at = open.pop()) {
    const { children } = contentsOf(index, at);
    open.push(...children);
    for (const child of children) {
      const place = index.nodes.get(child)?.kind === "op" ? sourceOf(index, child) : undefined;
      if (place !== undefined) found.add(place);
    }
  }
  return found;
}

function sourceOf(index: GraphIndex, id: string): string | undefined {
  const node = index.nodes.get(id);
  return (node !== undefined && "source" in node && node.source) || undefined;
}
