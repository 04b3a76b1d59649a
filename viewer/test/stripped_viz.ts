/** The layout engine that browsers get: without the functions that layout does not call. */
import { instance, type Viz } from "@viz-js/viz";
import { keptFunctions } from "../viz_functions.mjs";
import { startChanged, stripped } from "../wasm_functions.mjs";

export async function strippedInstance(): Promise<Viz> {
  const { library } = await startChanged(instance, (module) => stripped(module, keptFunctions(module)));
  return library;
}
