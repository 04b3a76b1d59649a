/** Switches between names of sizes and numbers, in diagrams that have names. */
import { strings } from "../../shared/strings.js";
import type { Widget } from "../widget.js";

const KEY = "s";

export function sizeNames(widget: Widget): void {
  // the page's own picture has names if the graph has
  if (widget.tree.picture.querySelector(".mg-sizes") === null) return;
  const toggle = () => void widget.change(({ state }) => ({ ...state, numbers: !state.numbers }));
  const isOn = () => widget.session?.state.numbers === true;
  widget.toolbar.addToMenu("", { text: strings.sizeNames, stays: true, isOn, run: toggle });
  widget.onKey(KEY, () => {
    toggle();
    return true;
  });
}
