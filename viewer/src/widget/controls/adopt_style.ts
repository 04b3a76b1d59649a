/** The style of what a later script brings. */
import { memoByKey } from "../../shared/memo.js";
import type { Widget } from "../widget.js";

/** A page has one of each. */
const sheetOf = memoByKey((css: string) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
});

/** Add a style sheet to a diagram. */
export function adoptStyle({ stage }: Widget, css: string): void {
  (stage.getRootNode() as ShadowRoot).adoptedStyleSheets.push(sheetOf(css));
}
