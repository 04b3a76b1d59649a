/** The button that opens the sizes of the inputs, where they can be set; `sizes.js` has the rest. */
import type { Session } from "../../session/session.js";
import { strings } from "../../shared/strings.js";
import { iconButton } from "../controls/dom.js";
import { loadOwn } from "../loading/loader.js";
import type { SizePanel } from "../sizes/size_panel.js";
import type { Widget } from "../widget.js";

declare global {
  /** Set by `sizes.js`. */
  var modelDiagramsSizes: ((widget: Widget, session: Session) => SizePanel) | undefined;
}

const RULER = "M1.5 5.5h13v5h-13zM4.5 5.5v2.5M8 5.5v2.5M11.5 5.5v2.5";

export function sizing(widget: Widget): void {
  if (!widget.host.hasAttribute("sizes")) return;
  let panel: SizePanel | undefined;
  const withPanel = (task: (panel: SizePanel) => void) =>
    void widget.tasks.withSession(async (session) => {
      const make = await loadOwn("sizes.js");
      if (session.difference !== undefined) return;
      panel ??= make(widget, session);
      task(panel);
    });
  const open = iconButton(strings.setSizes, RULER, () => withPanel((panel) => panel.toggle(open)));
  open.ariaExpanded = "false";
  widget.toolbar.add(open);
  widget.on("drawn", () => {
    open.disabled = widget.session?.difference !== undefined;
  });
  // the line that says what they mean
  widget.stage.addEventListener("click", ({ target }) => {
    if ((target as Element).closest(".mg-sizes") !== null) withPanel((panel) => panel.open(open));
  });
  widget.linked.sizes = {
    get: () => panel?.linked,
    set: (text) => {
      if (panel !== undefined || text !== "") withPanel((panel) => panel.follow(text));
    },
  };
}
