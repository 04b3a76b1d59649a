/** Shows the tensor on the edge under the pointer: name, shape and dtype. In a picture too small for text, a node's name. */
import { fill, strings } from "../../shared/strings.js";
import { readable } from "../../shared/text.js";
import { box } from "../controls/dom.js";
import { header, nodeAt } from "../picture/tree.js";
import type { Widget } from "../widget.js";

/** Greatest distance of the pointer from an edge, px on screen. */
const NEAR = 6;
/** Distance from the pointer to the right, below, and above, px. */
const [RIGHT, BELOW, ABOVE] = [12, 16, 8];

export function tooltip(widget: Widget): void {
  const element = box("mg-tip");
  element.hidden = true;
  element.role = "tooltip";
  widget.stage.append(element);
  const show = ({ target, clientX, clientY }: PointerEvent) => {
    const text = nodeText(widget, target) || tensorText(widget, target as Element, clientX, clientY);
    element.textContent = readable(text);
    element.hidden = text === "";
    if (text !== "") place(element, widget.stage, clientX, clientY);
  };
  widget.stage.addEventListener("pointermove", show);
  widget.stage.addEventListener("click", (event) => show(event as PointerEvent));
  widget.stage.addEventListener("pointerleave", () => {
    element.hidden = true;
  });
}

function place(element: HTMLElement, stage: HTMLElement, clientX: number, clientY: number): void {
  const { left, top, bottom } = stage.getBoundingClientRect();
  const x = Math.min(clientX - left + stage.scrollLeft + RIGHT, stage.clientWidth - element.offsetWidth);
  const hasRoom = clientY + BELOW + element.offsetHeight <= Math.min(bottom, innerHeight);
  const y = clientY - top + (hasRoom ? BELOW : -ABOVE - element.offsetHeight);
  element.style.transform = `translate(${x}px, ${y}px)`;
}

/** The name of the node under the pointer, if the picture is too small for text. */
function nodeText({ tree }: Widget, target: EventTarget | null): string {
  const node = tree.picture.classList.contains("mg-far") ? nodeAt(target) : null;
  return node === null ? "" : (header(node).getAttribute("aria-label") ?? "");
}

/** The tensor on the edge under the pointer, unless a node covers it. */
function tensorText(widget: Widget, target: Element, clientX: number, clientY: number): string {
  const matrix = widget.tree.picture.getScreenCTM();
  if (matrix === null || target.closest(".mg-node, .mg-header") !== null) return "";
  const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(matrix.inverse());
  let text = "";
  widget.tasks.ifLaidOut((session, layout) => {
    const edge = session.flow(layout).nearest(x, y, NEAR / matrix.a);
    if (edge === undefined) return;
    text = edge.count > 1 ? fill(strings.tensors, edge.count) : session.tensorText(edge.tensor);
  });
  return text;
}
