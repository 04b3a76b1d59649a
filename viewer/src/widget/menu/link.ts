/** Links to views, in the hash of the URL: copied from the menu, and followed. */

import { words } from "../../shared/menu_strings.js";
import { fill } from "../../shared/strings.js";
import type { Widget } from "../widget.js";
import { diagramOf, identify } from "./diagrams.js";
import { emptyView, type LinkedView, linkText, partsOf } from "./link_text.js";
import { differences, linkedState } from "./linked_state.js";

/** How long the message about the link is shown, ms. */
const MESSAGE_TIME = 6000;

/** Recognises our links: other scripts of a page may use similar hashes. */
const OURS = /[?&](?:open|close|at|alone|each|once)=/;

/** Show the view of a diagram in the page's address, if there is one. */
export async function followLink(widget: Widget): Promise<void> {
  const view = partsOf(location.hash).find(({ view }) => isAbout(widget, view))?.view;
  if (view === undefined) return tellOfGone(widget);
  // a comparison that is still loading is also left
  if (view.with === undefined || view.with !== widget.comparedWith) await widget.compareWith(view.with);
  // nothing can be opened in a comparison that can't be shown
  if (view.with === widget.comparedWith) await show(widget, view);
  widget.host.scrollIntoView({ block: "nearest" });
  // without this script, the link leads to the outline, which the browser has opened on the way
  document.querySelector(":target")?.closest(".mg-outline")?.removeAttribute("open");
}

/** Say at the first diagram of the page that a link leads to a missing diagram. */
function tellOfGone({ host, status }: Widget): void {
  if (host !== document.querySelector("model-graph[graph]")) return;
  const gone = partsOf(location.hash).filter(({ text, view: { graph, place } }) => {
    const isOurs = OURS.test(text) && document.getElementById(graph) === null;
    return isOurs && diagramOf(graph, place) === undefined;
  });
  if (gone.length > 0) status.pin(gone.map(({ view }) => fill(words.diagramGone, view.graph)).join(" "));
}

async function show(widget: Widget, view: LinkedView): Promise<void> {
  let at: string | undefined;
  let more: LinkedView["more"] = {};
  let gone = new Map<string, string>();
  await widget.change((session) => {
    const linked = linkedState(session, view);
    ({ at, more, gone } = linked);
    return linked.state;
  });
  if (at === undefined) widget.select(undefined);
  else widget.goTo(at);
  widget.asked = more;
  // modes that the link doesn't name are left
  for (const [key, { set }] of Object.entries(widget.linked)) set(more[key] ?? "");
  if (gone.size > 0)
    widget.status.pin([...gone].map((names) => fill(words.linkGone, ...inWords(widget, names))).join(" "));
}

function inWords({ session }: Widget, [name, nearest]: [string, string]): string[] {
  return [name, nearest || (session?.traced.graph.model.name ?? "")];
}

/** Copy a link to the current view. */
export async function copyLink(widget: Widget): Promise<void> {
  await widget.tasks.withSession(() => undefined);
  const { status } = widget;
  const url = urlOf(widget);
  try {
    // also put it into the address bar, where it survives a reload, without a history entry
    history.replaceState(history.state, "", url);
  } catch {
    // some embedded pages can't change their address
  }
  const isCopied = await navigator.clipboard?.writeText(url.href).then(
    () => true,
    () => false,
  );
  const message = isCopied ? words.linkCopied : words.linkShown;
  status.say(message);
  setTimeout(() => {
    if (status.element.textContent === message) status.clear();
  }, MESSAGE_TIME);
}

function urlOf(widget: Widget): URL {
  const others = partsOf(location.hash).filter(({ view }) => !isAbout(widget, view));
  const url = new URL(location.href);
  url.hash = [...others.map(({ text }) => text), linkText(viewOf(widget))].join(";");
  return url;
}

function viewOf({ host, session, selected, comparedWith, linked }: Widget): LinkedView {
  const { graph, place } = identify(host);
  const more = Object.entries(linked).map(([key, { get }]) => [key, get() ?? ""]);
  const shown = session === undefined ? {} : differences(session);
  const own = { at: selected || undefined, with: comparedWith, more: Object.fromEntries(more) };
  return { ...emptyView(graph, place), ...shown, ...own };
}

function isAbout({ host }: Widget, { graph, place }: LinkedView): boolean {
  return diagramOf(graph, place) === host;
}
