/** Style sheets of scripts that are loaded later. */
import { memoByKey } from "../../shared/memo.js";
import type { Widget } from "../widget.js";

/** A page has one sheet of each. */
const sheetOf = memoByKey((css: string) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
});

/** Add a style sheet to a diagram. */
export function adoptStyle({ stage }: Widget, css: string): void {
  (stage.getRootNode() as ShadowRoot).adoptedStyleSheets.push(sheetOf(css));
}
