/** Lights the hits of a search in the picture, or the nodes that contain them. */
import type { HitGroup } from "../../session/search_index.js";
import type { Widget } from "../widget.js";

const FOUND = "mg-found";
const CHOSEN = "mg-chosen";

/** Light these groups only, one of them more than the rest. */
export function light(widget: Widget, groups: readonly HitGroup[], chosen: HitGroup | undefined): void {
  const { picture } = widget.tree;
  for (const node of picture.querySelectorAll(`.${FOUND}`)) node.classList.remove(FOUND, CHOSEN);
  for (const group of groups) {
    for (const id of visible(widget, group.ids)) {
      const node = widget.tree.findDrawn(id);
      node?.classList.add(FOUND);
      if (group === chosen) node?.classList.add(CHOSEN);
    }
  }
}

/** The nodes of the picture that are or contain these. */
function visible(widget: Widget, ids: readonly string[]): Set<string> {
  const found = widget.session?.rolled().standIns(ids) ?? [];
  return new Set(found.map((id) => widget.visibleAncestor(id)).filter((id) => id !== undefined));
}
