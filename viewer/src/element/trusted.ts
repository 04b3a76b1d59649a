/**
 * Markup and script addresses of our own making, for pages that require Trusted Types and for all others. What is in the
 * markup was escaped where it was drawn. Scripts come from the page's own origin, or from the folder that this script
 * came from: documentation may have its files on a host of their own, but all of them there. Any other address is
 * refused, or an element in a page's text could run anybody's script.
 */

interface Policy {
  createHTML(text: string): string;
  createScriptURL(url: string): string;
}

declare global {
  var trustedTypes: { createPolicy(name: string, rules: Policy): Policy } | undefined;
}

/** Where this script came from. Empty for one inside the page. */
export const HOME = (globalThis.document?.currentScript as HTMLScriptElement | null | undefined)?.src;

let policy: Policy | undefined;

/** Made at the first need. Where the page's policy does not allow ours, its own default one is asked. */
function rules(): Policy {
  if (policy === undefined) {
    policy = { createHTML: (text) => text, createScriptURL: ours };
    try {
      policy = globalThis.trustedTypes?.createPolicy("modeldiagrams", policy) ?? policy;
    } catch {
      // not on the page's list
    }
  }
  return policy;
}

function ours(url: string): string {
  if (isOurs(url, location.href, HOME)) return url;
  throw new TypeError(
    `scripts of diagrams come from the page's own site or from beside model-graph.js, not from ${url}`,
  );
}

/** Whether a script may come from this address, for a page and a widget from these. */
export function isOurs(url: string, page: string, home: string | undefined): boolean {
  const { protocol, origin, href } = new URL(url, page);
  // the origin of files is the text "null", and that of data, too
  if (!/^(https?|file):$/.test(protocol)) return false;
  return origin === new URL(page).origin || (!!home && href.startsWith(new URL(".", home).href));
}

/** The elements that SVG text stands for. */
export function parseSvg(text: string): SVGElement[] {
  const template = document.createElement("template");
  template.innerHTML = rules().createHTML(`<svg>${text}</svg>`);
  return [...(template.content.firstElementChild?.children ?? [])] as SVGElement[];
}

/** The address of a script, for its element. */
export function scriptAddress(url: string): string {
  return rules().createScriptURL(url);
}
