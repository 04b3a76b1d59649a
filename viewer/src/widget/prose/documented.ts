/**
 * API pages: documentation entries light the nodes that they describe in the diagrams of the page. The outline lists these
 * nodes, so that nothing has to be loaded.
 */
import { connect, type Reference } from "./references.js";
import { widgetOf } from "./widget_of.js";

/** Elements whose id is a full name: Sphinx descriptions, and headings of mkdocstrings. */
const DOCUMENTED = "dt[id], .doc-heading[id]";

export function connectDocumented(): void {
  const documented = [...document.querySelectorAll<HTMLElement>(DOCUMENTED)].filter(
    (element) => element.dataset.mgDocumented === undefined,
  );
  for (const element of documented) element.dataset.mgDocumented = "";
  for (const host of document.querySelectorAll("model-graph[graph]")) {
    const references = documented.flatMap((element): Reference[] => {
      const ids = nodesOf(host, element);
      return ids.length === 0 ? [] : [{ element, ids }];
    });
    if (references.length > 0) void widgetOf(host).then((widget) => connect(widget, references, { leads: false }));
  }
}

/** Ids of the modules that an entry describes: those of its class, or an attribute of the diagram's class. */
function nodesOf(host: Element, { id }: HTMLElement): string[] {
  const owner = host.closest("dd, .doc-contents")?.parentElement?.querySelector(DOCUMENTED)?.id;
  return [...host.querySelectorAll<HTMLElement>(".mg-outline [data-node]")].flatMap((row) => {
    const { node = "" } = row.dataset;
    const name = row.parentElement?.querySelector<HTMLElement>(":scope > [data-class]")?.dataset.class;
    return isSame(id, name) || (owner !== undefined && id === `${owner}.${node}`) ? [node] : [];
  });
}

/** Whether two full names denote one class, which its package may export under a shorter name. */
function isSame(id: string, name: string | undefined): boolean {
  if (name === undefined) return false;
  const [a, b] = [id.split("."), name.split(".")];
  return a.length > 1 && a[0] === b[0] && a.at(-1) === b.at(-1);
}
