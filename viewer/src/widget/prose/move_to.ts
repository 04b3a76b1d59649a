/** Moves a picture to a part of it. */
import { LEGIBLE_SCALE } from "../../shared/legible.js";
import { glide } from "../camera/animation.js";
import type { Widget } from "../widget.js";

/** Share of the stage to fill, and greatest enlargement of a picture. */
const SHARE = 0.86;
const LARGEST_SCALE = 1.25;

/**
 * Centre nodes in the stage, as large as possible; without any, show the whole picture.
 *
 * @param lit nodes to centre instead if the whole picture is too small to read
 */
export function moveTo(widget: Widget, focus: readonly string[], lit: readonly string[]): void {
  const { camera, canvas, stage } = widget;
  for (const animation of canvas.getAnimations()) animation.finish();
  const from = canvas.style.transform;
  camera.fit();
  const { scale } = camera.viewport;
  const ids = focus.length > 0 || scale >= LEGIBLE_SCALE ? focus : lit;
  const found = ids.flatMap((id) => widget.tree.find(id)?.getBoundingClientRect() ?? []);
  if (found.length === 0 || scale === 0) return;
  const rest = widget.tree.picture.getBoundingClientRect();
  const left = Math.min(...found.map((box) => box.left));
  const top = Math.min(...found.map((box) => box.top));
  const width = Math.max(...found.map((box) => box.right)) - left;
  const height = Math.max(...found.map((box) => box.bottom)) - top;
  const room = SHARE * Math.min(stage.clientWidth / width, stage.clientHeight / height);
  const factor = Math.min(room, LARGEST_SCALE / scale);
  // if a part is already large enough, the whole picture stays
  if (factor <= 1) return;
  camera.lookAt((left - rest.left + width / 2) / scale, (top - rest.top + height / 2) / scale);
  camera.zoomBy(factor);
  for (const animation of canvas.getAnimations()) animation.cancel();
  if (from !== canvas.style.transform) glide(canvas, from, canvas.style.transform);
}
