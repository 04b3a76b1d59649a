/** The legend of the picture that the page shipped, in the site's words; others are drawn with them. */
import { strings } from "./strings.js";
import type { Widget } from "./widget.js";

/** So wide is a letter of the legend, px; a longer word has as much room as the build gave to the English one. */
const LETTER = 6.2;

export function legend(widget: Widget): void {
  for (const text of widget.tree.picture.querySelectorAll(".mg-legend text")) {
    const family = text.textContent;
    const name = (strings as Partial<Record<string, string>>)[family];
    if (name === undefined || name === family) continue;
    text.textContent = name;
    if (name.length <= family.length) continue;
    text.setAttribute("textLength", String(family.length * LETTER));
    text.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
}
