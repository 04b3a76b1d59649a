/**
 * Search and details: their buttons and keys, and the search field. The rest is in `explore.js`, loaded when a reader first
 * shows interest; actions before it is loaded are performed then.
 */
import { strings } from "../../shared/strings.js";
import { iconButton } from "../controls/dom.js";
import { SearchField } from "../controls/search_field.js";
import type { DetailsPanel } from "../exploring/details_panel.js";
import type { SearchBar } from "../exploring/search_bar.js";
import { loadOwn } from "../loading/loader.js";
import type { Widget } from "../widget.js";

interface Explored {
  search: SearchBar;
  details: DetailsPanel;
}

declare global {
  /** Set by `explore.js`. */
  var modelDiagramsExplore: ((widget: Widget, field: SearchField) => Explored) | undefined;
}

const GLASS = "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9zM10.5 10.5l3.5 3.5";

export function explore(widget: Widget): void {
  const field = new SearchField(widget);
  widget.foot.prepend(field.bar);
  let explored: Explored | undefined;
  const withExplored = (task: (explored: Explored) => void) => {
    if (explored !== undefined) task(explored);
    else
      void widget.tasks.withSession(async () => {
        const open = await loadOwn("explore.js");
        explored ??= open(widget, field);
        task(explored);
      });
  };
  addSearch(widget, field, (task) => withExplored(({ search }) => task(search)));
  addDetails(widget, (task) => withExplored(({ details }) => task(details)));
  widget.on("selected", () => {
    if (explored !== undefined || widget.selected !== undefined) withExplored(({ details }) => details.follow());
  });
}

function addSearch(widget: Widget, field: SearchField, withSearch: (task: (search: SearchBar) => void) => void): void {
  field.input.addEventListener("input", () => withSearch((search) => search.find()));
  field.input.addEventListener("keydown", (event) => withSearch((search) => search.onKey(event)));
  widget.toolbar.add(iconButton(strings.search, GLASS, () => field.open()));
  widget.onKey("/", () => {
    field.open();
    return true;
  });
}

function addDetails(widget: Widget, withDetails: (task: (details: DetailsPanel) => void) => void): void {
  const open = (id: string) => withDetails((details) => details.open(id));
  widget.toolbar.addToMenu("", { text: strings.details, run: () => open(widget.selected ?? "") });
  widget.onKey("i", (id) => {
    if (id !== undefined) open(id);
    return id !== undefined;
  });
}
