/** Entry of `explore.js`: search and details. */

import { adoptStyle } from "../widget/controls/adopt_style.js";
import { DetailsPanel } from "../widget/exploring/details_panel.js";
import { SearchBar } from "../widget/exploring/search_bar.js";

/** The text of the style sheet, inserted by the build. */
declare const EXPLORING_STYLE: string;

globalThis.modelDiagramsExplore = (widget, field) => {
  adoptStyle(widget, EXPLORING_STYLE);
  const details = new DetailsPanel(widget);
  field.bar.after(details.element);
  return { search: new SearchBar(widget, field), details };
};
