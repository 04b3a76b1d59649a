import { READ_THE_DOCS } from "../loading/version_signs.js";

/** Finds the other versions of a documentation, if its author or theme lists them. */

export interface Version {
  name: string;
  /** URL of its root, which holds the folder `modeldiagrams`. */
  root: string;
  /** Whether this page belongs to it. */
  isOwn: boolean;
}

/** How long Read the Docs may take to report its versions, ms. */
const PATIENCE = 3000;
/** How long a file may take to load, ms. */
const LONGEST = 30_000;

declare global {
  /** Set by Sphinx; the PyData theme adds the URL of its list of versions and the version of the page. */
  const DOCUMENTATION_OPTIONS: { theme_switcher_json_url?: string; theme_switcher_version_match?: string };
}

/** All versions in the order of their list; empty if there are none. */
export async function findVersions(host: HTMLElement, root: string): Promise<Version[]> {
  const named = host.getAttribute("versions");
  if (named !== null) return named.startsWith("{") ? fromMap(named, root) : listAt(urlOf(named, root), root);
  const { theme_switcher_json_url: url, theme_switcher_version_match: match } =
    typeof DOCUMENTATION_OPTIONS === "undefined" ? {} : DOCUMENTATION_OPTIONS;
  const sources = [
    async () => (!url ? [] : listAt(urlOf(url, document.baseURI), root, match)),
    () => fromReadTheDocs(root),
    () => listAt(urlOf("../versions.json", root), root),
  ];
  for (const source of sources) {
    // a page loads nothing from other sites unless its author names it
    const found = (await source()).filter((version) => new URL(version.root).origin === location.origin);
    if (found.length > 0) return found;
  }
  return [];
}

function fromMap(text: string, root: string): Version[] {
  const given = JSON.parse(text) as Record<string, string>;
  return Object.entries(given).flatMap(([name, address]) => versionAt(name, urlOf(address, root), root));
}

/** Skips invalid addresses: the other versions can still be compared. */
function versionAt(name: string, address: URL | undefined, own: string, isOwn = false): Version[] {
  if (address === undefined) return [];
  const root = address.href.endsWith("/") ? address.href : new URL(".", `${address.href}/`).href;
  return [{ name, root, isOwn: isOwn || root === own }];
}

function urlOf(address: string, base: string | URL): URL | undefined {
  return URL.canParse(address, base) ? new URL(address, base) : undefined;
}

/** The versions in mike's `versions.json` or in the `switcher.json` of the PyData theme. */
async function listAt(list: URL | undefined, own: string, match?: string): Promise<Version[]> {
  if (list === undefined) return [];
  const isSame = list.origin === location.origin;
  const content = await jsonAt(list.href, isSame ? "same-origin" : "omit").catch(() => undefined);
  return Array.isArray(content) ? content.flatMap((entry) => fromEntry(entry, list, own, match)) : [];
}

function fromEntry(entry: unknown, list: URL, own: string, match: string | undefined): Version[] {
  const { version, name, title, url, aliases } = (entry ?? {}) as Record<string, unknown>;
  if (typeof version !== "string") return [];
  if (typeof url === "string") {
    const shown = typeof name === "string" ? name : version;
    return versionAt(shown, urlOf(url, list), own, version === match);
  }
  const folder = (of: unknown) => new URL(`${encodeURIComponent(String(of))}/`, list);
  // an alias is a copy
  const isOwn = Array.isArray(aliases) && aliases.some((alias) => folder(alias).href === own);
  return versionAt(typeof title === "string" ? title : version, folder(version), own, isOwn);
}

interface ReadTheDocs {
  versions?: { active?: { slug?: unknown; urls?: { documentation?: unknown } }[]; current?: { slug?: unknown } };
}

declare global {
  /** Set by the addons of Read the Docs, once their data is there. */
  var ReadTheDocsEventData: { data(): ReadTheDocs } | undefined;
}

async function fromReadTheDocs(own: string): Promise<Version[]> {
  const { versions } = (await readTheDocsData())?.data() ?? {};
  return (versions?.active ?? []).flatMap(({ slug, urls }) => {
    const address = urls?.documentation;
    if (typeof slug !== "string" || typeof address !== "string") return [];
    return versionAt(slug, urlOf(address, location.href), own, slug === versions?.current?.slug);
  });
}

async function readTheDocsData(): Promise<typeof ReadTheDocsEventData> {
  if (globalThis.ReadTheDocsEventData !== undefined) return globalThis.ReadTheDocsEventData;
  if (document.querySelector(READ_THE_DOCS) === null) return undefined;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), PATIENCE);
    const onReady = (event: Event) => {
      clearTimeout(timer);
      resolve((event as CustomEvent).detail);
    };
    document.addEventListener("readthedocs-addons-data-ready", onReady, { once: true });
  });
}

/** @throws if there is none, or a server doesn't answer */
export async function jsonAt(url: string, credentials: RequestCredentials = "same-origin"): Promise<unknown> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), LONGEST);
  try {
    const answer = await fetch(url, { credentials, signal: limit.signal });
    if (!answer.ok) throw new Error(`${answer.status}`);
    return await answer.json();
  } finally {
    clearTimeout(timer);
  }
}

// -- order of versions ------------------------------------------------------------------------------------------------

/** Kinds of pre-releases, in order. */
const STAGES = [/^dev/, /^a/, /^b/, /^(c|rc|pre)/];
const RELEASE = STAGES.length;

const VERSION = /^\D{0,2}(\d+(?:\.\d+)*)(?:[-._]?(dev|alpha|a|beta|b|c|rc|preview|pre)(?![a-z])[-._]?(\d*))?/i;

/** Whether a version came after another, by their names. */
export function isLater(one: string, other: string): boolean {
  const [a, b] = [partsOf(one), partsOf(other)];
  if (a === undefined || b === undefined) return false;
  const length = Math.max(a.numbers.length, b.numbers.length);
  for (let i = 0; i < length; i += 1) {
    const difference = (a.numbers[i] ?? 0) - (b.numbers[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return a.stage === b.stage ? a.step > b.step : a.stage > b.stage;
}

interface Parts {
  numbers: number[];
  /** `2.0rc1` is the first candidate for `2.0`. */
  stage: number;
  step: number;
}

function partsOf(name: string): Parts | undefined {
  const [, numbers, stage = "", step = ""] = VERSION.exec(name) ?? [];
  if (numbers === undefined) return undefined;
  const found = STAGES.findIndex((pattern) => pattern.test(stage.toLowerCase()));
  return { numbers: numbers.split(".").map(Number), stage: found < 0 ? RELEASE : found, step: Number(step) };
}
