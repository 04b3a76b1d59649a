/** Connects the page's outline with the picture: a click on a row shows its module, and the selected one is marked. */
import type { Widget } from "../widget.js";

export function outline(widget: Widget): void {
  const rows = [...widget.host.querySelectorAll<HTMLElement>(".mg-outline [data-node]")];
  for (const row of rows) makeButton(widget, row);
  widget.on("selected", () => {
    const { selected, session } = widget;
    const path = selected === undefined || session === undefined ? [] : [selected, ...session.ancestors(selected)];
    const nearest = path.flatMap((id) => rows.filter((row) => row.dataset.node === id))[0];
    for (const row of rows) row.ariaCurrent = row === nearest ? "true" : null;
  });
}

function makeButton(widget: Widget, row: HTMLElement): void {
  const id = row.dataset.node ?? "";
  const show = () => void widget.show(id);
  row.role = "button";
  row.tabIndex = 0;
  row.addEventListener("click", show);
  row.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    show();
  });
}
