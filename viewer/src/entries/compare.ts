/** Entry of `compare.js`: compares two graphs, and lets readers go from change to change. */
import { comparedGraphs } from "../diff/union/union.js";
import type { Comparing } from "../session/core.js";
import { ChangeBar } from "../widget/comparing/change_bar.js";
import { VersionComparison } from "../widget/comparing/version_comparison.js";

const comparing: Comparing = {
  compare: (before, after, details) => comparedGraphs(JSON.stringify(before), JSON.stringify(after), details),
};
globalThis.modelDiagramsComparing = comparing;
globalThis.modelDiagramsShown = (widget, rows) => {
  const bar = new ChangeBar(widget, rows);
  return { bar, versions: new VersionComparison(widget, bar, comparing) };
};
