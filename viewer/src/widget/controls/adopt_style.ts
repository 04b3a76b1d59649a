/** The style of what a later script brings. */
import type { Widget } from "../widget.js";

const sheets = new Map<string, CSSStyleSheet>();

/** Add a style sheet to a diagram; a page has one of each. */
export function adoptStyle({ stage }: Widget, css: string): void {
  let sheet = sheets.get(css);
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    sheets.set(css, sheet);
  }
  (stage.getRootNode() as ShadowRoot).adoptedStyleSheets.push(sheet);
}
