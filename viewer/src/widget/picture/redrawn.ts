/**
 * The picture of a diagram that came without one: a page that is kept as HTML text (htmx) has what stood in the page, and
 * not what the element has taken into its shadow root.
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
