/** Entry of `code.js`: lines of code in boxes, for readers who zoom in. */
import { NearCode } from "../widget/code/near.js";
import type { Code } from "../widget/code/place.js";
import { adoptStyle } from "../widget/controls/adopt_style.js";

/** The text of the style sheet, inserted by the build. */
declare const CODE_STYLE: string;

globalThis.modelDiagramsCode = (widget, session, near) => {
  const data: unknown = globalThis.modelDiagramsData?.get(widget.host.getAttribute("graph") ?? "");
  const { code } = (data ?? {}) as { code?: Code };
  if (code === undefined) return;
  adoptStyle(widget, CODE_STYLE);
  const shown = new NearCode(widget, session, code, near);
  const update = () => shown.update();
  widget.on("moved", update);
  widget.on("drawn", update);
  new MutationObserver(update).observe(widget.stage, { attributeFilter: ["data-by"] });
  update();
};
