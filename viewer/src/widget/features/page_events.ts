/** Tells the page what readers do: the events of the element. */

import type { GraphNode } from "../../graph/graph.js";
import type { Session } from "../../session/session.js";
import type { Widget } from "../widget.js";

/** What the page learns of a node. */
export interface NodeFacts {
  id: string;
  kind: string;
  /** Dotted path of a module. */
  path: string | undefined;
  /** Fully qualified class of a module, or name of an op or a function. */
  type: string | undefined;
  /** `file:line` where an op or a function is called, or where the class of a module is defined. */
  source: string | undefined;
}

/**
 * Dispatches `select` ({ node }, null for none), `open` ({ id, isOpen }) for each module that opens or closes, and `change`
 * ({ expanded }) after each change of what is visible. They don't bubble: forms have events of these names.
 */
export function pageEvents(widget: Widget): void {
  let expanded: readonly string[] | undefined;
  const dispatch = (name: string, detail: unknown) => widget.host.dispatchEvent(new CustomEvent(name, { detail }));
  widget.on("selected", () => dispatch("select", { node: factsOf(widget, widget.selected) }));
  widget.on("drawn", () => {
    const now = widget.session?.state.expanded;
    if (now === undefined || now === expanded) return;
    const before = new Set(expanded ?? widget.session?.initial.expanded);
    const after = new Set(now);
    expanded = now;
    const opened = now.filter((id) => !before.has(id));
    const closed = [...before].filter((id) => !after.has(id));
    if (opened.length + closed.length === 0) return;
    for (const id of opened) dispatch("open", { id, isOpen: true });
    for (const id of closed) dispatch("open", { id, isOpen: false });
    dispatch("change", { expanded: [...now] });
  });
}

/** The facts of a node; before the graph is loaded, only its id is known. */
export function factsOf(widget: Widget, id: string | undefined): NodeFacts | null {
  if (!id) return null;
  return factsIn(widget.session?.indexOf(id).nodes.get(id), id);
}

function factsIn(node: GraphNode | undefined, id: string): NodeFacts {
  const {
    kind = "",
    path,
    class: type,
    name,
    source,
    call_site: site,
  } = (node ?? {}) as Partial<Record<string, string>>;
  return { id, kind, path, type: type ?? name, source: kind === "function" ? site : source };
}

/** Ids of the nodes whose `source` is this line, in execution order; function calls come first. */
export function nodesAt(session: Session, file: string, line: number): string[] {
  const place = `/${file.replaceAll("\\", "/")}:${line}`;
  const isThere = (source = "") => source !== "" && (place.endsWith(`/${source}`) || `/${source}`.endsWith(place));
  const { nodes, steps } = session.grouped;
  const calls = [...nodes.values()].filter(({ kind }) => kind === "function");
  return [...calls, ...steps]
    .map((node) => factsIn(node, node.id))
    .filter(({ source }) => isThere(source))
    .map(({ id }) => id);
}
