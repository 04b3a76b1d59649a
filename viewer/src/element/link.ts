/**
 * Links to what is shown: expansion, the module shown alone, and the selected node, in the address's hash. It is one word
 * of letters and digits, because themes look for their anchors with it; several diagrams of a page have a part each.
 */
import { button } from "./dom.js";
import type { Session, Shown } from "./session.js";
import { standsAlone } from "./states.js";
import { strings } from "./strings.js";
import type { Widget } from "./widget.js";

const PREFIX = "model-graph-";
const BETWEEN = ".";

/** So long it is said that there is a link, ms. */
const SAID = 6000;

/** What differs from the author's view. */
interface Linked {
  /** Which diagram: its id, and its number among those with this id. */
  graph: string;
  place?: number | undefined;
  node?: string | undefined;
  root?: string | undefined;
  plumbing?: boolean | undefined;
  /** Opened, closed, unrolled, rolled up. */
  open?: string[];
  closed?: string[];
  unrolled?: string[];
  rolled?: string[];
}

export function link(widget: Widget): void {
  widget.toolbar.addToMenu(
    "",
    button(strings.copyLink, () => void copy(widget)),
  );
  const follow = () => {
    const wanted = partsOf(location.hash).find((part) => isMine(widget.host, part));
    if (wanted !== undefined) void restore(widget, wanted);
  };
  widget.whileHere((signal) => addEventListener("hashchange", follow, { signal }));
  follow();
}

async function restore(widget: Widget, wanted: Linked): Promise<void> {
  await widget.change((_, session) => stateOf(session, wanted));
  widget.host.scrollIntoView({ block: "nearest" });
  if (wanted.node !== undefined) widget.go(wanted.node);
}

async function copy(widget: Widget): Promise<void> {
  await widget.askData(() => undefined);
  const { host, session } = widget;
  if (session === undefined) return;
  const own: Linked = { ...myself(host), node: widget.selected || undefined, ...differences(session) };
  const others = partsOf(location.hash).filter((part) => !isMine(host, part));
  const url = new URL(location.href);
  url.hash = [...others, own].map((part) => PREFIX + encode(part)).join(BETWEEN);
  try {
    // also in the address bar, where it survives a reload; no entry to go back to
    history.replaceState(history.state, "", url);
  } catch {
    // a page inside another has no address of its own to change
  }
  const { note } = widget;
  const copied = await navigator.clipboard?.writeText(url.href).then(
    () => true,
    () => false,
  );
  const news = copied ? strings.linkCopied : strings.linkShown;
  note.say(news);
  setTimeout(() => {
    if (note.element.textContent === news) note.clear();
  }, SAID);
}

function differences({ state, initial }: Session): Partial<Linked> {
  const less = (some: string[], others: string[]) => some.filter((id) => !others.includes(id));
  return {
    root: state.root,
    plumbing: state.plumbing,
    open: less(state.expanded, initial.expanded),
    closed: less(initial.expanded, state.expanded),
    unrolled: less(state.unrolled, initial.unrolled),
    rolled: less(initial.unrolled, state.unrolled),
  };
}

function stateOf(session: Session, wanted: Linked): Shown {
  const { initial } = session;
  const change = (ids: string[], more: string[] = [], fewer: string[] = []) =>
    [...new Set([...ids, ...more])].filter((id) => !fewer.includes(id)).sort();
  return {
    ...initial,
    // the model may have changed since
    root: wanted.root !== undefined && standsAlone(session, wanted.root) ? wanted.root : undefined,
    plumbing: wanted.plumbing === true,
    expanded: change(initial.expanded, wanted.open, wanted.closed),
    unrolled: change(initial.unrolled, wanted.unrolled, wanted.rolled),
  };
}

function myself(host: HTMLElement): Pick<Linked, "graph" | "place"> {
  const graph = host.getAttribute("graph") ?? "";
  const alike = [...document.querySelectorAll("model-graph")].filter((other) => other.getAttribute("graph") === graph);
  return { graph, place: alike.indexOf(host) || undefined };
}

function isMine(host: HTMLElement, part: Linked): boolean {
  const { graph, place } = myself(host);
  return part.graph === graph && part.place === place;
}

function encode(part: Linked): string {
  const bytes = new TextEncoder().encode(JSON.stringify(part, (_, value) => (value?.length === 0 ? undefined : value)));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** What an address says; anything may stand there, and what is not ours is left alone. */
export function partsOf(hash: string): Linked[] {
  return hash
    .slice(1)
    .split(BETWEEN)
    .flatMap((word) => (word.startsWith(PREFIX) ? decode(word.slice(PREFIX.length)) : []));
}

function decode(word: string): Linked[] {
  try {
    const text = atob(word.replace(/-/g, "+").replace(/_/g, "/"));
    const part: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (char) => char.charCodeAt(0))));
    return isLinked(part) ? [part] : [];
  } catch {
    return [];
  }
}

function isLinked(part: unknown): part is Linked {
  if (typeof part !== "object" || part === null) return false;
  const { graph, place, node, root, plumbing, open, closed, unrolled, rolled } = part as Record<string, unknown>;
  const isText = (value: unknown) => value === undefined || typeof value === "string";
  const areTexts = (value: unknown) => value === undefined || (Array.isArray(value) && value.every(isText));
  return (
    typeof graph === "string" &&
    (place === undefined || typeof place === "number") &&
    (plumbing === undefined || typeof plumbing === "boolean") &&
    [node, root].every(isText) &&
    [open, closed, unrolled, rolled].every(areTexts)
  );
}
