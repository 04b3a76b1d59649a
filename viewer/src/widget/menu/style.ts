/** The style of the menu and the help, which comes with their script. */
import { adoptStyle } from "../controls/adopt_style.js";
import type { Widget } from "../widget.js";

/** The text of the style sheet, inserted by the build. */
declare const MENU_STYLE: string;

const styled = new WeakSet<Widget>();

export function withStyle(widget: Widget): void {
  if (!styled.has(widget)) adoptStyle(widget, MENU_STYLE);
  styled.add(widget);
}
