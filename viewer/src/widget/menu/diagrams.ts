/** What links call the diagrams of a page. */

/** Options of a diagram are in its id as a digest; who changes them doesn't want to break links. */
const DIGEST = /-[0-9a-f]{8}$/;

/** From the most exact name to the shortest. */
const NAMES: readonly ((host: Element) => string | undefined)[] = [
  idOf,
  nameOf,
  (host) => host.closest("figure")?.id,
  (host) => nameOf(host).split(".").pop(),
];

/** The diagram with a name; of several, the one at this place, from 0. */
export function diagramOf(name: string, place: number): Element | undefined {
  const hosts = [...document.querySelectorAll("model-graph[graph]")];
  for (const named of NAMES) {
    const found = hosts.filter((host) => named(host) === name)[place];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A name and place by which a diagram is found, the same after a change of its options where the page allows it. */
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
