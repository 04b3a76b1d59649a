/**
 * Markup and script addresses of our own making, for pages that require Trusted Types. What is in the markup was escaped
 * where it was drawn, and scripts come from beside the page's own data.
 */

interface Policy {
  createHTML(text: string): string;
  createScriptURL(url: string): string;
}

declare global {
  var trustedTypes: { createPolicy(name: string, rules: Policy): Policy } | undefined;
}

let policy: Policy | undefined;

/** Made at the first need. Where the page's policy does not allow ours, its own default one is asked. */
function rules(): Policy {
  if (policy === undefined) {
    policy = { createHTML: (text) => text, createScriptURL: (url) => url };
    try {
      policy = globalThis.trustedTypes?.createPolicy("modeldiagrams", policy) ?? policy;
    } catch {
      // not on the page's list
    }
  }
  return policy;
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
