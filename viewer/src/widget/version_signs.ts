/** Signs that a documentation has other versions, which cost no request. */

export const READ_THE_DOCS_READY = "readthedocs-addons-data-ready";

/** Whether a page may have other versions. */
export function mayHaveVersions(host: HTMLElement): boolean {
  if (!host.hasAttribute("src") || !/^https?:$/.test(location.protocol)) return false;
  return host.hasAttribute("versions") || switcherOf().url !== undefined || hasReadTheDocs() || hasMike();
}

/** What pages of the PyData theme say: where the list of versions is, and which of them they are. */
export function switcherOf(): { url?: string; match?: string } {
  const { DOCUMENTATION_OPTIONS: options } = globalThis as { DOCUMENTATION_OPTIONS?: Record<string, unknown> };
  const { theme_switcher_json_url: url, theme_switcher_version_match: match } = options ?? {};
  return {
    ...(typeof url === "string" && url !== "" && { url }),
    ...(typeof match === "string" && { match }),
  };
}

function hasReadTheDocs(): boolean {
  return "ReadTheDocsEventData" in globalThis || document.querySelector("meta[name^='readthedocs-']") !== null;
}

/** Material and Zensical say so in their configuration, mike's other themes have its script. */
function hasMike(): boolean {
  const config = document.getElementById("__config")?.textContent ?? "";
  return /"provider":\s*"mike"/.test(config) || document.querySelector("script[src*='version-select']") !== null;
}
