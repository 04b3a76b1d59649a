/** The names of the diagrams of a page in links. */

/** The digest of options at the end of an id: changing options must not break links. */
const DIGEST = /-[0-9a-f]{8}$/;

/** From the most exact name to the shortest. */
const NAMES: readonly ((host: Element) => string | undefined)[] = [
  idOf,
  nameOf,
  (host) => host.closest("figure")?.id,
  (host) => nameOf(host).split(".").pop(),
];

/** The diagram with a name; of several, the one at a position, from 0. */
export function diagramOf(name: string, place: number): Element | undefined {
  const hosts = [...document.querySelectorAll("model-graph[graph]")];
  for (const named of NAMES) {
    const found = hosts.filter((host) => named(host) === name)[place];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A name and position that identify a diagram, if possible also after its options change. */
export function identify(host: Element): { graph: string; place: number } {
  const found = [nameOf, idOf].map((named) => {
    const same = [...document.querySelectorAll("model-graph[graph]")].filter((other) => named(other) === named(host));
    return { graph: named(host), place: same.indexOf(host) };
  });
  const [first = { graph: "", place: 0 }] = found;
  return found.find(({ graph, place }) => diagramOf(graph, place) === host) ?? first;
}

function idOf(host: Element): string {
  return host.getAttribute("graph") ?? "";
}

function nameOf(host: Element): string {
  return idOf(host).replace(DIGEST, "");
}
