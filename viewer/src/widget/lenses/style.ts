/** The style of lenses, which comes with their script. */
import type { Widget } from "../widget.js";

/** The text of the style sheet, inserted by the build. */
declare const LENSES_STYLE: string;

let sheet: CSSStyleSheet | undefined;

export function adoptStyle({ stage }: Widget): void {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(LENSES_STYLE);
  }
  (stage.getRootNode() as ShadowRoot).adoptedStyleSheets.push(sheet);
}
