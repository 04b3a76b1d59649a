/** A sign, while the controls are hidden, that the picture is more than a picture. */
import { strings } from "../../shared/strings.js";
import { box, icon, make } from "../controls/dom.js";
import type { Widget } from "../widget.js";

const OPEN = "M2.5 2.5h11v11h-11zM8 5.5v5M5.5 8h5";

export function rest(widget: Widget): void {
  // its row; without one it would cover the page's text
  if (widget.host.querySelector(".mg-outline") === null) return;
  const sign = make("span", "", icon(OPEN), strings.explore);
  const element = box("mg-rest", sign);
  // the controls say the same to all who don't see it
  element.ariaHidden = "true";
  widget.foot.after(element);
}
