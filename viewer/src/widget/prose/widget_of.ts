/** Finds the widget of a diagram that an element refers to. */
import type { Widget } from "../widget.js";

interface Host extends HTMLElement {
  widget: Widget | undefined;
}

/** The text of the style sheet, inserted by the build. */
declare const PROSE_STYLE: string;

let sheet: CSSStyleSheet | undefined;
const styled = new WeakSet<Widget>();

/** The widget of a `<model-graph>`, once it exists. */
export function widgetOf(element: Element): Promise<Widget> {
  const host = element as Host;
  return new Promise((resolve) => {
    const found = () => {
      if (host.widget === undefined) return;
      adoptStyle(host.widget);
      resolve(host.widget);
    };
    host.addEventListener("mg-ready", found, { once: true });
    found();
  });
}

function adoptStyle(widget: Widget): void {
  if (styled.has(widget)) return;
  styled.add(widget);
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(PROSE_STYLE);
  }
  (widget.stage.getRootNode() as ShadowRoot).adoptedStyleSheets.push(sheet);
}
