/** Signs that a documentation has other versions, which cost no request. */

interface SphinxOptions {
  /** Where the PyData theme's list of versions is, and which of them a page belongs to. */
  theme_switcher_json_url?: string;
  theme_switcher_version_match?: string;
}

declare global {
  const DOCUMENTATION_OPTIONS: SphinxOptions | undefined;
}

/** What Sphinx tells scripts; a `const` of another script, which is no property of `globalThis`. */
export function sphinxOptions(): SphinxOptions {
  return (typeof DOCUMENTATION_OPTIONS === "undefined" ? undefined : DOCUMENTATION_OPTIONS) ?? {};
}

/** On pages that Read the Docs serves. */
export const READ_THE_DOCS = "meta[name^='readthedocs-']";

/** Material and Zensical name mike in their configuration, its other themes have its script. */
export function mayHaveVersions(host: HTMLElement): boolean {
  const isSite = host.hasAttribute("src") && location.protocol.startsWith("http");
  return (
    isSite &&
    (host.hasAttribute("versions") ||
      !!sphinxOptions().theme_switcher_json_url ||
      document.querySelector(`${READ_THE_DOCS}, script[src*='version-select']`) !== null ||
      /"provider":\s*"mike"/.test(document.getElementById("__config")?.textContent ?? ""))
  );
}
