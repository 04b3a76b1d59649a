/** Entry of `compare.js`: what compares two graphs, and how readers go from change to change. */
import { comparedGraphs } from "../diff/compared.js";
import { ChangeBar } from "../widget/comparing/change_bar.js";

globalThis.modelDiagramsComparing = {
  compare: (before, after, details) => comparedGraphs(JSON.stringify(before), JSON.stringify(after), details),
};
globalThis.modelDiagramsChangeBar = (widget) => new ChangeBar(widget);
