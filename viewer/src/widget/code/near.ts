/** Shows lines of code in boxes with room for them while a reader is near. */
import type { Box, Placed } from "../../layout/layout.js";
import type { Session } from "../../session/session.js";
import type { Item } from "../../view/frame.js";
import type { Viewport } from "../picture/scene.js";
import type { Widget } from "../widget.js";
import { type Face, faceOf, layer } from "./faces.js";
import { type Code, codePlaceOf } from "./place.js";

/** Margin around the visible part, as a share of its size. */
const MARGIN = 0.3;

interface Near {
  item: Item;
  box: Box;
}

export class NearCode {
  readonly #widget: Widget;
  readonly #code: Code;
  readonly #templates: string;
  /** The least scale for code. */
  readonly #least: number;
  /** Id of a node → the place of its code, if the page has it. */
  #places = new Map<string, string | undefined>();
  #session: Session;
  #hasFaces = false;

  constructor(widget: Widget, session: Session, code: Code, least: number) {
    this.#widget = widget;
    this.#session = session;
    this.#code = code;
    this.#least = least;
    this.#templates = widget.host.getAttribute("source-link") ?? "";
  }

  /** Write code into each visible box as far as it has room. */
  update(): void {
    this.#widget.tasks.ifLaidOut((session, layout) => {
      const { scale } = this.#widget.camera.viewport;
      const found = this.#faces(session, layout.root);
      if (!this.#hasFaces && found.size === 0) return;
      const { picture } = this.#widget.tree;
      picture.querySelector(":scope > .mg-codes")?.remove();
      for (const node of picture.querySelectorAll<SVGElement>(".mg-coded"))
        node.classList.toggle("mg-coded", found.has(node));
      for (const node of found.keys()) node.classList.add("mg-coded");
      // not inside the nodes, whose names for screen readers don't include it
      if (found.size > 0) picture.append(layer([...found.values()], scale, this.#templates));
      this.#hasFaces = found.size > 0;
    });
  }

  #faces(session: Session, root: Placed): Map<SVGElement, Face> {
    const found = new Map<SVGElement, Face>();
    const { viewport } = this.#widget.camera;
    // another version may have other lines, and lenses have bars in the boxes
    const isOther = session.difference !== undefined || this.#widget.stage.dataset.by === "amount";
    if (isOther || viewport.scale < this.#least) return found;
    for (const { item, box } of this.#near(root, viewport)) {
      const source = this.#placeOf(session, item.id);
      const lines = source === undefined ? undefined : this.#code[source];
      if (source === undefined || lines === undefined) continue;
      const face = faceOf(item, box, viewport.scale, lines, source);
      const node = face && this.#widget.tree.findDrawn(item.id);
      if (face && node) found.set(node, face);
    }
    return found;
  }

  #placeOf(session: Session, id: string): string | undefined {
    if (session !== this.#session) [this.#session, this.#places] = [session, new Map()];
    if (!this.#places.has(id)) this.#places.set(id, codePlaceOf(session.indexOf(id), id, this.#code));
    return this.#places.get(id);
  }

  /** The visible closed boxes. */
  *#near({ frame, geometry, inner }: Placed, viewport: Viewport, origin = { x: 0, y: 0 }): Iterable<Near> {
    for (const [i, item] of frame.items.entries()) {
      const at = geometry.boxes[i];
      if (at === undefined || item.glyph !== null) continue;
      const box = { ...at, x: origin.x + at.x, y: origin.y + at.y };
      if (!isVisible(box, viewport)) continue;
      const inside = inner[i] ?? null;
      if (inside !== null) yield* this.#near(inside, viewport, box);
      else yield { item, box };
    }
  }
}

function isVisible(box: Box, { x, y, width, height }: Viewport): boolean {
  const [beyond, above] = [width * MARGIN, height * MARGIN];
  const isBeside = box.x + box.width < x - beyond || box.x > x + width + beyond;
  return !isBeside && box.y + box.height >= y - above && box.y <= y + height + above;
}
