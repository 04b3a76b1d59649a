/**
 * Draws the picture of a diagram without one: a page saved as HTML text (htmx) contains the light DOM, but not the picture,
 * which the element had moved into its shadow root.
 */
import { StatusLine } from "../controls/status_line.js";
import { TaskQueue } from "../loading/task_queue.js";
import { parseSvg } from "../loading/trusted_types.js";

/** Draw the picture from the diagram's data. */
export async function redrawn(host: HTMLElement): Promise<SVGSVGElement> {
  const queue = new TaskQueue(host, new StatusLine());
  const [session, layout] = await queue.layOut();
  const picture = parseSvg(session.drawing.picture(layout).svg)[0] as SVGSVGElement;
  picture.setAttribute("aria-label", session.title(""));
  return picture;
}
