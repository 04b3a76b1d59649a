/** The picture on screen: replaces it, and keeps the visible part of a large one in the document. */
import type { Layout } from "../../layout/layout.js";
import type { Session } from "../../session/session.js";
import { appear } from "../camera/animation.js";
import type { Camera } from "../camera/camera.js";
import { box, make } from "../controls/dom.js";
import { parseSvg } from "../loading/trusted_types.js";
import { isLarge, Scene } from "./scene.js";
import { header, idOf, nodeAt, Tree } from "./tree.js";

export class ShownPicture {
  /** Its nodes. */
  tree: Tree;
  /** The page's own picture, unmodified, for copies of the diagram and for printing. */
  readonly #original = make("template", "");
  /** A copy of it for printing, once another picture is on screen. */
  readonly #printed = box("mg-still");
  /** Set while the camera moves a new picture, so that nothing is drawn at a temporary place. */
  isMoving = false;
  /** Whether the page's own picture is on screen. */
  #isOriginal = true;
  readonly #stage: HTMLElement;
  readonly #camera: Camera;
  /** Set while only a part of the picture is in the document. */
  #scene: Scene | undefined;

  /** @param picture the page's own, unmodified */
  constructor(picture: SVGSVGElement, stage: HTMLElement, camera: Camera) {
    this.#stage = stage;
    this.#camera = camera;
    this.#original.content.append(picture.cloneNode(true));
    this.tree = new Tree(picture);
  }

  /** Elements with the page's own picture. */
  get originals(): Element[] {
    return [this.#original, this.#printed];
  }

  /** Put the visible part into the document; whether there was anything to do. */
  update(): boolean {
    return !this.isMoving && (this.#scene?.update(this.#camera.viewport) ?? false);
  }

  /** Add the page's own picture for printing if another one is on screen. Only now, because it may have many elements. */
  print(): void {
    if (!this.#isOriginal && !this.#printed.hasChildNodes())
      this.#printed.append(this.#original.content.cloneNode(true));
  }

  /** Show another picture; the node with this id, or else another visible one, stays in place. */
  replace(session: Session, layout: Layout, id: string, onDrawn: () => void): void {
    this.#isOriginal = false;
    const old = this.tree;
    const active = this.#root.activeElement;
    const focused = nodeAt(active);
    const scene = isLarge(layout) ? new Scene(layout, session.drawing) : undefined;
    const picture = scene?.picture ?? (parseSvg(session.drawing.picture(layout).svg)[0] as SVGSVGElement);
    picture.setAttribute("aria-label", old.picture.getAttribute("aria-label") ?? "");
    const tree = new Tree(picture, scene, old);
    this.isMoving = true;
    try {
      this.#moveCamera(tree, id);
    } finally {
      this.isMoving = false;
    }
    this.tree = tree;
    this.#scene = scene;
    this.update();
    if (focused !== null) this.#restoreFocus(idOf(focused), id);
    onDrawn();
    this.#keepFocus(active);
    appear(tree.addedSince(old));
  }

  #moveCamera(tree: Tree, id: string): void {
    const old = this.tree;
    const first = () => firstVisible(this.#stage, old, tree);
    const kept = old.has(id) && tree.has(id) ? id : idOf(first() ?? old.picture);
    this.#camera.replace(
      tree.picture,
      () => this.#placeOf(old, kept),
      () => this.#placeOf(tree, kept),
    );
  }

  /** The upper middle of a node, or else of the picture, on screen; found without drawing if possible. */
  #placeOf(tree: Tree, id: string): { x: number; y: number } {
    const box = tree.has(id) ? tree.box(id) : undefined;
    if (box !== undefined) return this.#camera.onScreen(box.x + box.width / 2, box.y);
    const node = tree.find(id);
    const { left, right, top } = (node === undefined ? tree.picture : header(node)).getBoundingClientRect();
    return { x: (left + right) / 2, y: top };
  }

  /** Focus the node that had the focus or, if it is gone, the toggled one. */
  #restoreFocus(id: string, toggled: string): void {
    const node = this.tree.find(id) ?? this.tree.find(toggled);
    if (node !== undefined) this.tree.focus(node);
  }

  /** If the focused element is gone, move the focus to the tree, not to the start of the page. */
  #keepFocus(focused: Element | null): void {
    const { activeElement } = this.#root;
    // a hidden element loses the focus a moment later
    const isLost = activeElement === null || activeElement.getClientRects().length === 0;
    if (focused !== null && isLost) this.tree.tabStop?.focus({ preventScroll: true });
  }

  get #root(): ShadowRoot {
    return this.#stage.getRootNode() as ShadowRoot;
  }
}

// -- what stays in place ----------------------------------------------------------------------------------------------

/** The first node of a picture that is visible on the stage and also in another picture. */
function firstVisible(stage: HTMLElement, now: Tree, other: Tree): SVGElement | undefined {
  const frame = stage.getBoundingClientRect();
  const bottom = Math.min(frame.bottom, innerHeight);
  return [...now.picture.querySelectorAll<SVGElement>("[data-id]")].find((node) => {
    if (!other.has(idOf(node))) return false;
    const rect = header(node).getBoundingClientRect();
    const isBeside = rect.right <= frame.left || rect.left >= frame.right;
    return !isBeside && rect.top >= Math.max(0, frame.top) && rect.bottom <= bottom;
  });
}
