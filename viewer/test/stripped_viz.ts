/** The layout engine that browsers get: without the functions that layout does not call. */
import { instance } from "@viz-js/viz";
import type { Viz } from "../src/layout/layout.js";
import { keptFunctions } from "../viz_functions.mjs";
import { startChanged, stripped } from "../wasm_functions.mjs";

export async function strippedInstance(): Promise<Viz> {
  const { library } = await startChanged(instance, (module) => stripped(module, keptFunctions(module)));
  return library;
}
