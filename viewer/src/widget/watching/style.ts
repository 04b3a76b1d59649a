/** The style of recordings, which comes with their script. */
import type { Widget } from "../widget.js";

/** The text of the style sheet, inserted by the build. */
declare const RECORDING_STYLE: string;

let sheet: CSSStyleSheet | undefined;

export function adoptStyle({ stage }: Widget): void {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(RECORDING_STYLE);
  }
  (stage.getRootNode() as ShadowRoot).adoptedStyleSheets.push(sheet);
}
