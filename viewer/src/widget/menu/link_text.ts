/**
 * A view of a diagram as the text of a link, which people can read and write: `pkg.Net?open=h.0.attn&at=h.0.attn.c_attn`.
 * `;` separates the diagrams of a page, and `~2` means the second of several with one name. Links of former versions, with
 * one word of base64 per diagram, are still read.
 */

/** The view in a link. Names are paths, ids or classes of nodes, or patterns of them. */
export interface LinkedView {
  /** The name of the diagram, and its position among those with this name on the page, from 0. */
  graph: string;
  place: number;
  open: string[];
  close: string[];
  /** Repeats that are shown one by one, and repeats that are shown as one again. */
  each: string[];
  once: string[];
  alone?: string | undefined;
  at?: string | undefined;
  /** The version that the diagram is compared with. */
  with?: string | undefined;
  direction?: string | undefined;
  /** Set if it differs from the author's choice. */
  plumbing?: boolean | undefined;
  numbers?: boolean | undefined;
  /** Additions by features: a lens, a path. */
  more: Record<string, string>;
  /** Whether the lists are complete, so that modules around open ones need not be added. */
  isExact: boolean;
}

/** The part of a link for one diagram. */
interface LinkPart {
  text: string;
  view: LinkedView;
}

const LISTS = ["open", "close", "each", "once"] as const;
const NAMES = ["alone", "at", "with", "direction"] as const;
const SWITCHES = ["plumbing", "numbers"] as const;

/** The author's view of a diagram. */
export function emptyView(graph: string, place: number): LinkedView {
  return { graph, place, open: [], close: [], each: [], once: [], more: {}, isExact: false };
}

export function linkText(view: LinkedView): string {
  const { graph, place, more } = view;
  const pairs = [
    ...LISTS.map((key) => [key, view[key].map(encode).join(",")]),
    ...NAMES.map((key) => [key, encode(view[key] ?? "")]),
    ...SWITCHES.map((key) => [key, view[key] === undefined ? "" : view[key] ? "yes" : "no"] as const),
    ...Object.entries(more)
      .sort()
      .map(([key, value]) => [key, encode(value)]),
  ];
  const query = pairs.flatMap(([key, value]) => (value === "" ? [] : [`${key}=${value}`])).join("&");
  return `${encode(graph).replaceAll("~", "%7E")}${place > 0 ? `~${place + 1}` : ""}?${query}`;
}

/** The parts of a hash, which may also contain anything else. */
export function partsOf(hash: string): LinkPart[] {
  const pieces = hash.slice(1).split(";");
  return pieces.flatMap((piece) => (piece.includes("?") ? readable(piece) : formerParts(piece)));
}

function readable(text: string): LinkPart[] {
  const [, name = "", place = "1", query = ""] = /^([^?]+?)(?:~([1-9]\d*))?\?(.*)$/s.exec(text) ?? [];
  if (name === "") return [];
  const view = emptyView(decode(name), Number(place) - 1);
  for (const pair of query.split("&").filter(Boolean)) add(view, pair);
  return [{ text, view }];
}

function add(view: LinkedView, pair: string): void {
  const [key = "", ...rest] = pair.split("=");
  const value = rest.join("=");
  const list = LISTS.find((known) => known === key);
  const name = NAMES.find((known) => known === key);
  const choice = SWITCHES.find((known) => known === key);
  if (list !== undefined) view[list].push(...value.split(",").filter(Boolean).map(decode));
  else if (name !== undefined) view[name] = decode(value) || undefined;
  else if (choice !== undefined) view[choice] = value === "yes" ? true : value === "no" ? false : undefined;
  else view.more[key] = decode(value);
}

/** Percent-encoded, except for characters that links may contain. Brackets would end a link in Markdown. */
function encode(name: string): string {
  const text = encodeURIComponent(name.replace(/\p{Cs}/gu, "\ufffd"));
  return text
    .replace(/%(?:2F|3A|40)/g, decodeURIComponent)
    .replace(/['()!]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const FORMER = "model-graph-";

function formerParts(piece: string): LinkPart[] {
  return piece.split(".").flatMap((text) => {
    const view = text.startsWith(FORMER) ? former(text.slice(FORMER.length)) : undefined;
    return view === undefined ? [] : [{ text, view }];
  });
}

/** JSON in base64. */
function former(word: string): LinkedView | undefined {
  try {
    const text = atob(word.replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = Uint8Array.from(text, (char) => char.charCodeAt(0));
    return formerView(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

function formerView(part: Record<string, unknown>): LinkedView | undefined {
  const { graph, place = 0, plumbing } = part;
  if (typeof graph !== "string" || typeof place !== "number") return undefined;
  const name = (key: string) => (typeof part[key] === "string" ? part[key] : undefined);
  const list = (key: string) => (Array.isArray(part[key]) ? part[key].filter((id) => typeof id === "string") : []);
  const names = { alone: name("root"), at: name("node"), with: name("with") };
  const lists = { open: list("open"), close: list("closed"), each: list("unrolled"), once: list("rolled") };
  return { ...emptyView(graph, place), ...names, ...lists, plumbing: plumbing === true || undefined, isExact: true };
}
