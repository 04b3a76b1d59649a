/**
 * Entry of `prose.js`, for pages whose text refers to parts of a diagram: tours, references in sentences. A page may
 * contain it several times, and themes that exchange pages run it again: it starts only what hasn't started.
 */
import { connectDocumented } from "../widget/prose/documented.js";
import { connectReferences } from "../widget/prose/references.js";
import { startTour } from "../widget/prose/tour.js";

connectReferences(document);
connectDocumented();
for (const tour of document.querySelectorAll<HTMLElement>(".mg-tour.mg-live:not([data-started])")) void startTour(tour);
