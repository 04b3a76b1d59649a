/** Entry of `sizes.js`: other sizes of the inputs. */

import { adoptStyle } from "../widget/controls/adopt_style.js";
import { SizePanel } from "../widget/sizes/size_panel.js";

/** The text of the style sheet, inserted by the build. */
declare const SIZES_STYLE: string;

globalThis.modelDiagramsSizes = (widget, session) => {
  adoptStyle(widget, SIZES_STYLE);
  return new SizePanel(widget, session);
};
