/** From afar, shows containers as blocks with legible names; a click or Enter on one zooms to where its inside is legible. */
import type { Box } from "../../layout/layout.js";
import type { Block } from "../../session/levels.js";
import type { Item } from "../../view/frame.js";
import { appear } from "../camera/animation.js";
import { svg } from "../controls/dom.js";
import { header, idOf, nodeAt } from "../picture/tree.js";
import type { Widget } from "../widget.js";

/** Least and greatest scale for the inside of a block. */
const LEGIBLE = 0.7;
const NATURAL = 1;

export function farBlocks(widget: Widget): void {
  let shown: ReadonlyMap<string, Block> = new Map();
  let scale = 0;
  let isStale = false;
  const update = () => {
    const now = widget.camera.viewport.scale;
    // moving without zooming changes nothing
    if (now === 0 || (now === scale && !isStale)) return;
    widget.tasks.ifLaidOut((session, layout) => {
      const next = session.drawing.blocks(layout.root, now, shown, detailOf);
      const { picture } = widget.tree;
      if (next.size > 0) picture.style.setProperty("--mg-px", String(1 / now));
      if (next.size > 0 || shown.size > 0) paint(picture, next);
      [shown, scale, isStale] = [next, now, false];
    });
  };
  const redraw = () => {
    isStale = true;
    update();
  };
  /** A lens writes amounts into titles. */
  const detailOf = ({ id, detail }: Item) => {
    const node = widget.stage.dataset.by === "amount" ? widget.tree.findDrawn(id) : undefined;
    return (node && header(node).querySelector(":scope > .mg-detail")?.textContent) ?? detail;
  };
  widget.on("moved", update);
  widget.on("drawn", () => {
    redraw();
    // lenses paint what was drawn after this
    if (shown.size > 0 && widget.stage.dataset.by === "amount") queueMicrotask(redraw);
  });
  widget.whileConnected((signal) => {
    const relensed = new MutationObserver(redraw);
    relensed.observe(widget.stage, { attributeFilter: ["data-lens"] });
    signal.addEventListener("abort", () => relensed.disconnect());
  });
  const enter = (id: string | undefined) => {
    const block = widget.nodePicker === undefined ? shown.get(id ?? "") : undefined;
    if (block?.kind !== "block") return false;
    goInto(widget, block.box);
    return true;
  };
  widget.onKey("Enter", enter);
  widget.stage.addEventListener("click", (event) => {
    const node = event.shiftKey ? null : nodeAt(event.target);
    const isBlock = node !== null && header(node).contains(event.target as Node);
    if (isBlock && enter(idOf(node))) event.stopImmediatePropagation();
  });
}

/** Zoom to where the inside of a part of the picture is legible. */
export function goInto({ camera }: Widget, box: Box): void {
  const { width, height, scale } = camera.viewport;
  const wanted = Math.min(NATURAL, Math.max(LEGIBLE, (width * scale) / box.width));
  const visible = (height * scale) / wanted;
  camera.lookAt(box.x + box.width / 2, box.y + Math.min(box.height, visible) / 2);
  camera.zoomBy(wanted / scale);
}

/** Turn containers in the document into blocks or back, as wanted. */
function paint(picture: SVGSVGElement, wanted: ReadonlyMap<string, Block>): void {
  const added: Element[] = [];
  for (const container of picture.querySelectorAll<SVGElement>(".mg-expanded, .mg-node")) {
    const block = wanted.get(idOf(container));
    const old = header(container).querySelector(":scope > .mg-face");
    const isSame = old !== null && block !== undefined && old.getAttribute("data-lines") === keyOf(block);
    container.classList.toggle("mg-block", block !== undefined && block.kind !== "title");
    container.classList.toggle("mg-titled", block?.kind === "title");
    if (!isSame) old?.remove();
    tell(header(container), block?.inside);
    if (block === undefined) continue;
    const face = isSame ? old : faceOf(block);
    (face as SVGElement).style.setProperty("--mg-size", `${block.size}px`);
    if (isSame) continue;
    header(container).append(face);
    if (old === null) added.push(face);
  }
  appear(added);
}

/** Occurs in no label. */
const NONE = "\0";

/** Add a block's text about its inside to its label for screen readers, between name and detail. */
function tell(item: SVGElement, words = ""): void {
  const { told = "" } = item.dataset;
  if (words === "" && told === "") return;
  const label = item.getAttribute("aria-label") ?? "";
  // a lens changes labels
  const own = told === "" ? label : label.replace(told, "");
  const detail = own.indexOf(item.querySelector(":scope > .mg-detail")?.textContent || NONE, 1);
  const [at, more] = detail < 0 ? [own.length, ` ${words}`] : [detail, `${words} `];
  if (words === "") delete item.dataset.told;
  else item.dataset.told = more;
  const next = words === "" ? own : own.slice(0, at) + more + own.slice(at);
  if (next !== label) item.setAttribute("aria-label", next);
}

function keyOf({ kind, lines }: Block): string {
  return [kind, ...lines].join("\n");
}

/** The cover of a container, or its larger name. Screen readers have its title. */
function faceOf(block: Block): SVGElement {
  const { kind, lines, notes } = block;
  const { width, height } = block.box;
  const hit = svg("rect", { class: "mg-hit", width, height });
  const texts = lines.map((line, i) => {
    const place = lines.length === 1 ? "mg-only" : ["mg-first", "mg-second"][i];
    return svg("text", { x: block.x, y: block.y, class: `${i === 0 ? "mg-name" : "mg-detail"} ${place}` }, line);
  });
  const face = svg("g", { class: `mg-face mg-face-${kind}`, "aria-hidden": "true", "data-lines": keyOf(block) });
  if (notes.length > 0) face.setAttribute("data-notes", notes.join());
  // separated, as in the name for screen readers
  face.append(...(kind === "block" ? [hit] : []), ...texts.flatMap((text) => [text, " "]));
  return face;
}
