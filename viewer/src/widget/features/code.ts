/** From near, nodes show their lines of code, where the page has them: another script writes them. */
import type { Session } from "../../session/session.js";
import { loadOwn, wasmAllowed } from "../loading/loader.js";
import type { Widget } from "../widget.js";

declare global {
  /** Comes with `code.js`. */
  var modelDiagramsCode: ((widget: Widget, session: Session, near: number) => void) | undefined;
}

/** Lines of code fit into boxes from this scale on. */
const NEAR = 1.5;

export function code(widget: Widget): void {
  if (!widget.host.hasAttribute("source-link")) return;
  let isNear = false;
  widget.on("moved", () => {
    // nobody asked for it, so nobody is told that it can't be
    if (isNear || widget.camera.viewport.scale < NEAR || !wasmAllowed()) return;
    isNear = true;
    void widget.tasks.withLayout(async (session) => {
      (await loadOwn("code.js"))(widget, session, NEAR);
    });
  });
}
