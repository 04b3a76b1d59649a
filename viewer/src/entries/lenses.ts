/** Entry of `lenses.js`: the costs of parts of a model. */

import { adoptStyle } from "../widget/controls/adopt_style.js";
import { Lenses } from "../widget/lenses/lenses.js";

/** The text of the style sheet, inserted by the build. */
declare const LENSES_STYLE: string;

globalThis.modelDiagramsLenses = (widget, legend) => {
  adoptStyle(widget, LENSES_STYLE);
  return new Lenses(widget, legend);
};
