/** Entry of `cases.js`, for pages with diagrams of several cases: a row of chips above each such picture. */
import { Chips } from "../widget/cases/chips.js";
import { adoptStyle } from "../widget/controls/adopt_style.js";
import type { Widget } from "../widget/widget.js";

/** The text of the style sheet, inserted by the build. */
declare const CASES_STYLE: string;

const NAME = "model-graph";

declare global {
  /** Diagrams that have their chips. */
  var modelDiagramsCased: WeakSet<HTMLElement> | undefined;
}

type Host = HTMLElement & { widget?: Widget };

void customElements.whenDefined(NAME).then(() => {
  // every diagram of a page contains this script
  globalThis.modelDiagramsCased ??= new WeakSet();
  const started = globalThis.modelDiagramsCased;
  const start = () => {
    for (const host of document.querySelectorAll<Host>(`${NAME}[cases]`)) {
      const { widget } = host;
      if (widget === undefined || started.has(host)) continue;
      started.add(host);
      adoptStyle(widget, CASES_STYLE);
      new Chips(widget, JSON.parse(host.getAttribute("cases") ?? "[]"));
    }
  };
  start();
  // an element without a shadow root isn't ready yet, or comes later
  new MutationObserver(start).observe(document, { childList: true, subtree: true });
  document.addEventListener("mg-ready", start, true);
});
