/**
 * Rolled repeats: what is drawn for a node, and what a drawn node represents. Details, search, lenses and recordings use it
 * for ×n. Repeats have the same children in the same order, so a node's counterpart in another repeat has its position.
 */
import { contentsOf, type GraphIndex, ROOT } from "../graph/graph.js";
import type { Frame, Item } from "../view/frame.js";
import { type ShownContents, shownContents } from "../view/repeats/contents.js";

/** A box, or the panel of an open node. */
export interface StandingBox {
  item: Item;
  /** All nodes this box represents, itself first. */
  ids: string[];
  /** How many equal blocks they are; a container may share its box with the blocks inside. */
  times: number;
}

/** A child of a container and its repeats. */
interface Place {
  /** Its position among the children. */
  at: number;
  /** The positions of its counterparts in the repeats, the drawn one first; shared by all of them. */
  repeats: number[];
}

export class Rolled {
  readonly #index: GraphIndex;
  readonly #unrolled: ReadonlySet<string>;
  /** Container → child → its place. */
  readonly #places = new Map<string, Map<string, Place>>();
  readonly #drawn = new Map<string, string>();
  readonly #all = new Map<string, string[]>();

  /** @param unrolled the runs that are shown one by one */
  constructor(index: GraphIndex, unrolled: readonly string[]) {
    this.#index = index;
    this.#unrolled = new Set(unrolled);
  }

  /** The node that is drawn for this one. */
  standIn(id: string): string {
    if (id === ROOT || !this.#index.nodes.has(id)) return id;
    let drawn = this.#drawn.get(id);
    if (drawn === undefined) {
      drawn = this.#findDrawn(id);
      this.#drawn.set(id, drawn);
    }
    return drawn;
  }

  /** The nodes that are drawn for several, each once. */
  standIns(ids: readonly string[]): string[] {
    return [...new Set(ids.map((id) => this.standIn(id)))];
  }

  /** All nodes that are drawn as one with a node: every path through the repeats around it, the drawn one first. */
  all(id: string): readonly string[] {
    if (id === ROOT || !this.#index.nodes.has(id)) return [id];
    const drawn = this.standIn(id);
    let found = this.#all.get(drawn);
    if (found === undefined) {
      const around = this.#parent(drawn);
      const positions = this.#place(around, drawn)?.repeats ?? [];
      found = this.all(around).flatMap((each) => positions.flatMap((at) => this.#childAt(each, at) ?? []));
      this.#all.set(drawn, found);
    }
    return found;
  }

  /** The boxes and panels of the picture in reading order. */
  boxes(root: Frame): StandingBox[] {
    return root.items.flatMap((item) => [this.box(item), ...(item.frame === null ? [] : this.boxes(item.frame))]);
  }

  /** The box or panel of a node. */
  box(item: Item): StandingBox {
    const isOfMembers = item.kind === "group" || item.members.includes(item.id);
    const drawn = this.standIns(isOfMembers ? item.members : [item.id]);
    const ids = drawn.flatMap((id) => this.all(id));
    return { item, ids, times: isOfMembers ? ids.length : ids.length * item.times };
  }

  #findDrawn(id: string): string {
    const around = this.#parent(id);
    const drawnAround = this.standIn(around);
    const own = drawnAround === around ? id : this.#childAt(drawnAround, this.#place(around, id)?.at ?? -1);
    if (own === undefined) return id;
    const [first = -1] = this.#place(drawnAround, own)?.repeats ?? [];
    return this.#childAt(drawnAround, first) ?? own;
  }

  #parent(id: string): string {
    return this.#index.parent.get(id) ?? ROOT;
  }

  #childAt(container: string, at: number): string | undefined {
    return contentsOf(this.#index, container).children[at];
  }

  #place(container: string, child: string): Place | undefined {
    let known = this.#places.get(container);
    if (known === undefined) {
      known = placesIn(this.#index, container, this.#unrolled);
      this.#places.set(container, known);
    }
    return known.get(child);
  }
}

function placesIn(index: GraphIndex, container: string, unrolled: ReadonlySet<string>): Map<string, Place> {
  const firsts = new Map<string, string>();
  addFirsts(shownContents(index, container, unrolled), unrolled, firsts);
  const { children } = contentsOf(index, container);
  const shared = new Map<string, number[]>();
  const places = new Map<string, Place>();
  children.forEach((child, at) => {
    let first = child;
    // a repeat of several children may contain repeats
    for (let next = firsts.get(first); next !== undefined && next !== first; next = firsts.get(first)) first = next;
    const repeats = shared.get(first) ?? [];
    shared.set(first, repeats);
    repeats.push(at);
    places.set(child, { at, repeats });
  });
  return places;
}

/** For each child in a later repeat, its counterpart in the first. */
function addFirsts(shown: ShownContents, unrolled: ReadonlySet<string>, firsts: Map<string, string>): void {
  const add = (members: readonly string[], times: number) => {
    const period = members.length / times;
    members.slice(period).forEach((member, at) => {
      firsts.set(member, members[at % period] ?? member);
    });
  };
  for (const { id, members, times } of shown.runs.values()) if (!unrolled.has(id)) add(members, times);
  for (const group of shown.groups.values()) {
    add(group.members, group.times);
    addFirsts(group, unrolled, firsts);
  }
}
