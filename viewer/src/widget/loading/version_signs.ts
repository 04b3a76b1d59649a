/** Signs, without a request, that a documentation has other versions. */

/** Present on pages served by Read the Docs. */
export const READ_THE_DOCS = "meta[name^='readthedocs-']";

/** Material and Zensical name mike in their configuration, other MkDocs themes have its script, PyData has a button. */
export function mayHaveVersions(host: HTMLElement): boolean {
  const isSite = host.hasAttribute("src") && location.protocol.startsWith("http");
  return (
    isSite &&
    (host.hasAttribute("versions") ||
      document.querySelector(`${READ_THE_DOCS}, script[src*='version-select'], .version-switcher__button`) !== null ||
      /"provider":\s*"mike"/.test(document.getElementById("__config")?.textContent ?? ""))
  );
}
