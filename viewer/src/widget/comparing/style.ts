/** The style of comparisons, which comes with their script. */
import type { Widget } from "../widget.js";

/** The text of the style sheet, inserted by the build. */
declare const COMPARING_STYLE: string;

let sheet: CSSStyleSheet | undefined;

export function adoptStyle({ stage }: Widget): void {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(COMPARING_STYLE);
  }
  (stage.getRootNode() as ShadowRoot).adoptedStyleSheets.push(sheet);
}
