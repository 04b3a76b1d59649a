/** ES module that defines the element: `import { ModelGraph } from "./modeldiagrams/element.mjs"`. */

// model-graph.js is a classic script, which works in pages from disk and knows where its other scripts are
if (globalThis.customElements !== undefined && customElements.get("model-graph") === undefined) {
  await new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("./model-graph.js", import.meta.url).href;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${script.src} did not load`));
    document.head.append(script);
  });
}

// undefined on servers, which render the tag alone
export const ModelGraph = globalThis.customElements?.get("model-graph");
