/**
 * Entry of `prose.js`, on pages whose text speaks of parts of a diagram: tours, parts in sentences, listings of code. A page
 * may bring it several times, and themes that exchange pages run it again: it starts what has not started.
 */
import { connectDocumented } from "../widget/prose/documented.js";
import { connectParts } from "../widget/prose/references.js";
import { startTour } from "../widget/prose/tour.js";

connectParts(document);
connectDocumented();
for (const tour of document.querySelectorAll<HTMLElement>(".mg-tour.mg-live:not([data-started])")) void startTour(tour);
