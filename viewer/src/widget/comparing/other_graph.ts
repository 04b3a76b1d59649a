/** The graph of the same model in another version of a documentation. */
import type { GraphData } from "../../graph/graph.js";
import { words } from "../../shared/comparison_strings.js";
import { fill } from "../../shared/strings.js";
import { jsonAt, type Version } from "./versions.js";

/** The reason, for readers, why two versions can't be compared. */
export class IncomparableError extends Error {}

interface Listed {
  id: string;
  snapshots: string[] | undefined;
}

/**
 * @param site the folder of the diagram's own files
 * @throws IncomparableError if there is no graph, or none that can be read here
 */
export async function otherGraph(id: string, site: string, own: GraphData, version: Version): Promise<GraphData> {
  const folder = new URL("modeldiagrams/", version.root).href;
  const [here, there] = await Promise.all([
    diagramsIn(site).catch(() => []),
    diagramsIn(folder).catch(() => {
      throw new IncomparableError(fill(words.notLoaded, version.name, new URL("index.json", folder).href));
    }),
  ]);
  const found = sameModel(id, here, there);
  if (found === undefined) throw new IncomparableError(fill(words.notShown, version.name));
  const url = new URL(`${encodeURIComponent(found.id)}.json`, folder).href;
  const graph = await jsonAt(url).catch((error: unknown) => {
    const reason = error instanceof SyntaxError ? words.noGraph : words.notLoaded;
    throw new IncomparableError(fill(reason, version.name, url));
  });
  return checked(graph, own, version.name, url);
}

async function diagramsIn(folder: string): Promise<Listed[]> {
  const index = (await jsonAt(new URL("index.json", folder).href)) as { diagrams?: unknown } | null;
  if (!Array.isArray(index?.diagrams)) throw new Error("no list of diagrams");
  return index.diagrams.flatMap((entry: unknown) => {
    const { id, snapshots } = (entry ?? {}) as Record<string, unknown>;
    if (typeof id !== "string") return [];
    return [{ id, snapshots: Array.isArray(snapshots) ? snapshots.map(String) : undefined }];
  });
}

/** Whether an id is of the same model with the same call. Ids also contain options of the picture, except names of snapshots. */
function sameModel(id: string, here: Listed[], there: Listed[]): Listed | undefined {
  const names = here.find((entry) => entry.id === id)?.snapshots ?? [];
  const byId = there.find((entry) => entry.id === id);
  const isSame = ({ snapshots = [] }: Listed) => snapshots.some((name) => names.includes(name));
  if (byId !== undefined && (names.length === 0 || byId.snapshots === undefined || isSame(byId))) return byId;
  return there.find(isSame);
}

function checked(graph: unknown, own: GraphData, name: string, url: string): GraphData {
  const { format, version, status, nodes } = (graph ?? {}) as Partial<GraphData>;
  const isGraph = format === own.format && typeof version === "string" && Array.isArray(nodes);
  if (!isGraph) throw new IncomparableError(fill(words.noGraph, name, url));
  if (Number.parseInt(version, 10) > Number.parseInt(own.version ?? "1", 10))
    throw new IncomparableError(fill(words.newerFormat, name, version));
  if (status?.state !== "complete") throw new IncomparableError(fill(words.incomplete, name));
  return graph as GraphData;
}
