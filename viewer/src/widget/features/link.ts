/**
 * Links to what is shown: expansion, the isolated module and the selected node, in the URL's hash. Each diagram of a page
 * has a part of it. A part is one word of letters and digits, because themes look up hashes as anchors.
 */
import type { Session } from "../../session/session.js";
import type { SessionState } from "../../session/state.js";
import { strings } from "../../shared/strings.js";
import { button } from "../parts/dom.js";
import type { Widget } from "../widget.js";

const PREFIX = "model-graph-";
const SEPARATOR = ".";

/** How long the message about the link is shown, ms. */
const MESSAGE_TIME = 6000;

/** The differences from the author's view. Keys are part of the URLs that readers keep. */
interface LinkedView {
  /** The diagram's id, and its index among those of the page that have this id. */
  graph: string;
  place?: number | undefined;
  node?: string | undefined;
  root?: string | undefined;
  /** The version that the diagram is compared with. */
  with?: string | undefined;
  plumbing?: boolean | undefined;
  /** Modules that were expanded and collapsed. */
  open?: string[];
  closed?: string[];
  /** Runs of repeats that are shown one by one, and as one again. */
  unrolled?: string[];
  rolled?: string[];
}

export function link(widget: Widget): void {
  // a frame of a notebook has no address
  if (location.protocol === "about:") return;
  widget.toolbar.addToMenu(
    "",
    button(strings.copyLink, () => void copyLink(widget)),
  );
  const follow = () => {
    const linked = partsOf(location.hash).find((part) => isAbout(widget.host, part));
    if (linked !== undefined) void restore(widget, linked);
  };
  widget.whileConnected((signal) => addEventListener("hashchange", follow, { signal }));
  follow();
}

async function restore(widget: Widget, linked: LinkedView): Promise<void> {
  // a comparison that still loads is left, too
  if (linked.with === undefined || linked.with !== widget.comparedWith) await widget.compareWith(linked.with);
  // of a comparison that can't be shown, nothing can be opened
  const isThere = linked.with === widget.comparedWith;
  if (isThere) await widget.change((session) => stateOf(session, linked));
  widget.host.scrollIntoView({ block: "nearest" });
  if (isThere && linked.node) widget.goTo(linked.node);
  // where the link leads without this script: the browser has opened the outline on the way
  document.querySelector(":target")?.closest(".mg-outline")?.removeAttribute("open");
}

async function copyLink(widget: Widget): Promise<void> {
  await widget.withSession(() => undefined);
  const { session, status } = widget;
  if (session === undefined) return;
  const url = urlOf(widget, session);
  try {
    // also in the address bar, where it survives a reload; adds no history entry
    history.replaceState(history.state, "", url);
  } catch {
    // some embedded pages have no address to change
  }
  const isCopied = await navigator.clipboard?.writeText(url.href).then(
    () => true,
    () => false,
  );
  const message = isCopied ? strings.linkCopied : strings.linkShown;
  status.say(message);
  setTimeout(() => {
    if (status.element.textContent === message) status.clear();
  }, MESSAGE_TIME);
}

function urlOf({ host, selected, comparedWith }: Widget, session: Session): URL {
  const own: LinkedView = {
    ...identify(host),
    node: selected || undefined,
    with: comparedWith,
    ...differences(session),
  };
  const others = partsOf(location.hash).filter((part) => !isAbout(host, part));
  const url = new URL(location.href);
  url.hash = [...others, own].map((part) => PREFIX + encode(part)).join(SEPARATOR);
  return url;
}

function differences({ state, initial }: Session): Partial<LinkedView> {
  const without = (some: string[], others: string[]) => some.filter((id) => !others.includes(id));
  return {
    root: state.root,
    plumbing: state.plumbing,
    open: without(state.expanded, initial.expanded),
    closed: without(initial.expanded, state.expanded),
    unrolled: without(state.unrolled, initial.unrolled),
    rolled: without(initial.unrolled, state.unrolled),
  };
}

function stateOf(session: Session, linked: LinkedView): SessionState {
  const { initial } = session;
  const change = (ids: string[], added: string[] = [], removed: string[] = []) =>
    [...new Set([...ids, ...added])].filter((id) => !removed.includes(id)).sort();
  return {
    ...initial,
    // the model may have changed since the link was made
    root: linked.root !== undefined && session.canIsolate(linked.root) ? linked.root : undefined,
    plumbing: linked.plumbing === true,
    expanded: change(initial.expanded, linked.open, linked.closed),
    unrolled: change(initial.unrolled, linked.unrolled, linked.rolled),
  };
}

function identify(host: HTMLElement): Pick<LinkedView, "graph" | "place"> {
  const graph = host.getAttribute("graph") ?? "";
  const same = [...document.querySelectorAll("model-graph")].filter((other) => other.getAttribute("graph") === graph);
  return { graph, place: same.indexOf(host) || undefined };
}

function isAbout(host: HTMLElement, part: LinkedView): boolean {
  const { graph, place } = identify(host);
  return part.graph === graph && part.place === place;
}

function encode(part: LinkedView): string {
  const isEmpty = (value: { length?: number } | null | undefined) => value?.length === 0;
  const json = JSON.stringify(part, (_, value) => (isEmpty(value) ? undefined : value));
  let text = "";
  for (const byte of new TextEncoder().encode(json)) text += String.fromCharCode(byte);
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** The views in a hash, which may hold anything else, too. */
function partsOf(hash: string): LinkedView[] {
  return hash
    .slice(1)
    .split(SEPARATOR)
    .flatMap((word) => (word.startsWith(PREFIX) ? decode(word.slice(PREFIX.length)) : []));
}

function decode(word: string): LinkedView[] {
  try {
    const text = atob(word.replace(/-/g, "+").replace(/_/g, "/"));
    const part: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (char) => char.charCodeAt(0))));
    return isLinkedView(part) ? [part] : [];
  } catch {
    return [];
  }
}

function isLinkedView(part: unknown): part is LinkedView {
  if (typeof part !== "object" || part === null) return false;
  const {
    graph,
    place,
    node,
    root,
    with: other,
    plumbing,
    open,
    closed,
    unrolled,
    rolled,
  } = part as Record<string, unknown>;
  const isText = (value: unknown) => value === undefined || typeof value === "string";
  const areTexts = (value: unknown) => value === undefined || (Array.isArray(value) && value.every(isText));
  return (
    typeof graph === "string" &&
    (place === undefined || typeof place === "number") &&
    (plumbing === undefined || typeof plumbing === "boolean") &&
    [node, root, other].every(isText) &&
    [open, closed, unrolled, rolled].every(areTexts)
  );
}
