/** Signs that a documentation has other versions, which cost no request. */

declare global {
  /** Set by Sphinx; the PyData theme adds where its list of versions is, and which of them a page belongs to. */
  var DOCUMENTATION_OPTIONS: { theme_switcher_json_url?: string; theme_switcher_version_match?: string } | undefined;
}

/** On pages that Read the Docs serves. */
export const READ_THE_DOCS = "meta[name^='readthedocs-']";

/** Material and Zensical name mike in their configuration, its other themes have its script. */
export function mayHaveVersions(host: HTMLElement): boolean {
  const isSite = host.hasAttribute("src") && location.protocol.startsWith("http");
  return (
    isSite &&
    (host.hasAttribute("versions") ||
      !!globalThis.DOCUMENTATION_OPTIONS?.theme_switcher_json_url ||
      document.querySelector(`${READ_THE_DOCS}, script[src*='version-select']`) !== null ||
      /"provider":\s*"mike"/.test(document.getElementById("__config")?.textContent ?? ""))
  );
}
