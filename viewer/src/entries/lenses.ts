/** Entry of `lenses.js`: what parts of a model cost. */
import { Lenses } from "../widget/lenses/lenses.js";
import { adoptStyle } from "../widget/parts/adopt_style.js";

/** The text of the style sheet, inserted by the build. */
declare const LENSES_STYLE: string;

globalThis.modelDiagramsLenses = (widget, legend) => {
  adoptStyle(widget, LENSES_STYLE);
  return new Lenses(widget, legend);
};
