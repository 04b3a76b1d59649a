/** Signs that a documentation has other versions, which cost no request. */

/** On pages that Read the Docs serves. */
export const READ_THE_DOCS = "meta[name^='readthedocs-']";

/** Material and Zensical name mike in their configuration, its other themes have its script; PyData's has a button. */
export function mayHaveVersions(host: HTMLElement): boolean {
  const isSite = host.hasAttribute("src") && location.protocol.startsWith("http");
  return (
    isSite &&
    (host.hasAttribute("versions") ||
      document.querySelector(`${READ_THE_DOCS}, script[src*='version-select'], .version-switcher__button`) !== null ||
      /"provider":\s*"mike"/.test(document.getElementById("__config")?.textContent ?? ""))
  );
}
