/**
 * Creates markup and script URLs, for pages with and without Trusted Types. Markup is escaped where it is drawn. Scripts may
 * come from the page's origin or from the folder of this script, because some sites keep all their files on another host.
 * Other URLs are refused; otherwise an element in a page's text could run any script.
 */

interface Policy {
  createHTML(text: string): string;
  createScriptURL(url: string): string;
}

declare global {
  var trustedTypes: { createPolicy(name: string, rules: Policy): Policy } | undefined;
}

/** The URL of this script; empty for an inline one. */
export const HOME = (globalThis.document?.currentScript as HTMLScriptElement | null | undefined)?.src;

/** A page may allow each name once. Set by the build for scripts that run without the widget's. */
declare const POLICY: string;
const NAME = typeof POLICY === "undefined" ? "modeldiagrams" : POLICY;

let policy: Policy | undefined;

/** URLs made for the texts of scripts in the page. */
const made = new Set<string>();

/** Created when first used. If the page doesn't allow our policy, its default policy decides. */
function rules(): Policy {
  if (policy === undefined) {
    policy = { createHTML: (text) => text, createScriptURL: checked };
    try {
      policy = globalThis.trustedTypes?.createPolicy(NAME, policy) ?? policy;
    } catch {
      // the page doesn't list it
    }
  }
  return policy;
}

function checked(url: string): string {
  if (made.has(url) || isAllowed(url, location.href, HOME)) return url;
  throw new TypeError(
    `scripts of diagrams come from the page's own site or from beside model-graph.js, not from ${url}`,
  );
}

/** Whether a script may come from this URL, given the URLs of the page and of the widget. */
export function isAllowed(url: string, page: string, home: string | undefined): boolean {
  const { protocol, origin, href } = new URL(url, page);
  // files have the origin "null", but so do data: URLs
  if (!/^(https?|file):$/.test(protocol)) return false;
  return origin === new URL(page).origin || (!!home && href.startsWith(new URL(".", home).href));
}

/** Parse SVG text into elements. */
export function parseSvg(text: string): SVGElement[] {
  const template = document.createElement("template");
  template.innerHTML = rules().createHTML(`<svg>${text}</svg>`);
  return [...(template.content.firstElementChild?.children ?? [])] as SVGElement[];
}

/** Give the text of a script that the page has run a URL while it is used. */
export async function withTextUrl<T>(text: string, use: (url: string) => Promise<T>): Promise<T> {
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  made.add(url);
  try {
    return await use(scriptUrl(url));
  } finally {
    made.delete(url);
    URL.revokeObjectURL(url);
  }
}

/** A script URL in the form that script elements accept. */
export function scriptUrl(url: string): string {
  return rules().createScriptURL(url);
}
