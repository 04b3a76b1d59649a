/** What the boxes of a picture stand for: one that is drawn for equal blocks stands for all of them, and so does what is in it. */
import { contentsOf, type GraphIndex, ROOT } from "../graph/graph.js";
import type { Frame, Item } from "../view/frame.js";
import type { Session } from "./session.js";

/** A box, or the panel of what is open. */
export interface StandingBox {
  item: Item;
  /** All that it stands for, itself first. */
  ids: string[];
  /** How many equal blocks these are; a container may share its box with the blocks in it. */
  times: number;
}

/** A node → it and its counterparts in the other repeats around it. */
type Copies = (id: string) => string[];

/** The boxes and panels of a picture in reading order; `index` is the graph that it shows. */
export function standingBoxes(index: GraphIndex, root: Frame): StandingBox[] {
  const places = new Places(index);
  const found: StandingBox[] = [];
  const visit = (frame: Frame, around: Copies) => {
    for (const item of frame.items) {
      const isOfMembers = item.kind === "group" || item.members.includes(item.id);
      const own = isOfMembers ? item.members : [item.id];
      const ids = [...new Set(own.flatMap(around))];
      found.push({ item, ids, times: isOfMembers ? ids.length : ids.length * item.times });
      if (item.frame !== null) visit(item.frame, insideOf(places, item, around));
    }
  };
  visit(root, (id) => [id]);
  return found;
}

/** The closed box that shows a node: the nearest around it, of those that `boxOf` (node → box) has. */
export function boxAround(session: Session, boxOf: ReadonlyMap<string, string>, id: string): string | undefined {
  // the picture's graph has bundles, and the whole one what the picture hides
  const [shown, whole] = [session.visibleGraph().parent, session.grouped.parent];
  let at: string | undefined = id;
  while (at !== undefined && at !== ROOT && !boxOf.has(at)) at = shown.get(at) ?? whole.get(at);
  return boxOf.get(at ?? ROOT);
}

function insideOf(places: Places, { members, times, kind }: Item, around: Copies): Copies {
  if (members.length < 2) return around;
  // a group holds several children of each repeat
  const period = kind === "group" ? members.length / times : 1;
  const firsts = members.slice(0, period);
  return (id) => {
    const first = firsts.findIndex((member) => places.isInside(id, member));
    if (first < 0) return around(id);
    const repeats = members.filter((_, i) => i % period === first);
    return repeats.flatMap((repeat) => places.counterpart(id, firsts[first] ?? "", repeat) ?? []).flatMap(around);
  };
}

/** Where nodes are in the hierarchy. */
class Places {
  readonly #index: GraphIndex;
  /** Container → child → its position. */
  readonly #positions = new Map<string, Map<string, number>>();

  constructor(index: GraphIndex) {
    this.#index = index;
  }

  isInside(id: string, container: string): boolean {
    for (let at: string | undefined = id; at !== undefined && at !== ROOT; at = this.#index.parent.get(at))
      if (at === container) return true;
    return false;
  }

  /** The node that is at the same place in another container. */
  counterpart(id: string, from: string, to: string): string | undefined {
    if (id === from) return to;
    const parent = this.#index.parent.get(id) ?? ROOT;
    const around = this.counterpart(parent, from, to);
    if (around === undefined) return undefined;
    return contentsOf(this.#index, around).children[this.#position(parent, id)];
  }

  #position(container: string, child: string): number {
    let known = this.#positions.get(container);
    if (known === undefined) {
      known = new Map(contentsOf(this.#index, container).children.map((id, i) => [id, i]));
      this.#positions.set(container, known);
    }
    return known.get(child) ?? -1;
  }
}
