/** Entry of `lenses.js`: what parts of a model cost. */
import { Lenses } from "../widget/lenses/lenses.js";
import { adoptStyle } from "../widget/lenses/style.js";

globalThis.modelDiagramsLenses = (widget, legend) => {
  adoptStyle(widget);
  return new Lenses(widget, legend);
};
