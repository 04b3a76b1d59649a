/** Records which functions of Graphviz layout calls: run `npm run record-viz` whenever layout uses dot in a new way. */
import { build } from "esbuild";
import { record } from "./viz_functions.mjs";
import { called, startChanged, watched } from "./wasm_functions.mjs";

/** Of 9000 plans, the 840th was the last to call a new function. */
const PLANS = 3000;

const contents = `
  export { instance } from "@viz-js/viz";
  export { atOnce } from "./src/shared/slices.ts";
  export { rankByDot } from "./src/layout/layering/dot.ts";
  export { randomPlan } from "./test/random_plans.ts";
`;
const { outputFiles } = await build({
  bundle: true,
  format: "esm",
  stdin: { contents, resolveDir: import.meta.dirname },
  write: false,
});
const { atOnce, instance, randomPlan, rankByDot } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
);

let original;
const { library, running } = await startChanged(instance, (module) => {
  original = module;
  return watched(module);
});
for (let seed = 0; seed < PLANS; seed += 1) atOnce(rankByDot(randomPlan(seed), library));
const functions = called(running);
record(original, functions);
console.log(`${functions.length} functions are called`);
