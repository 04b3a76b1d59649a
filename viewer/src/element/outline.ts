/** The outline in the page, in step with the picture: a press on a row shows its module, and what is selected is marked. */
import { ancestors } from "../graph.js";
import { withNode } from "./states.js";
import type { Widget } from "./widget.js";

export function outline(widget: Widget): void {
  const rows = [...widget.host.querySelectorAll<HTMLElement>(".mg-outline [data-node]")];
  for (const row of rows) {
    const id = row.dataset.node ?? "";
    const show = () => void widget.change((state, session) => withNode(session, state, id)).then(() => widget.go(id));
    row.role = "button";
    row.tabIndex = 0;
    row.addEventListener("click", show);
    row.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      show();
    });
  }
  widget.on("selected", () => {
    const id = widget.selected;
    const { session } = widget;
    const way = id === undefined || session === undefined ? [] : [id, ...ancestors(session.traced, id)];
    const nearest = way.flatMap((at) => rows.filter((row) => row.dataset.node === at))[0];
    for (const row of rows) row.ariaCurrent = row === nearest ? "true" : null;
  });
}
