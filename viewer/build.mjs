/**
 * Builds the viewer: `node build.mjs [output folder]`. Needs no network; same sources, same bytes.
 *
 *   model-graph.js   the widget                    static.js  the core for the embedded V8
 *   core.js, viz.js  the core and Graphviz, late   flat.js    flat pictures, for it too, and inter-*.ttf, their font
 *   model-graph.css, picture.css (its part for SVG files), third-party-notices.txt
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { notices } from "./notices.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const output = resolve(process.argv[2] ?? join(here, "../src/modeldiagrams/static"));

const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  format: "iife",
  charset: "ascii",
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
  write: false,
};

/** Sets a factory; nothing starts before the widget asks for it. */
const VIZ = 'import { instance } from "@viz-js/viz"; globalThis.modelDiagramsViz = instance;';

const CORE = readFileSync(join(here, "src/core.ts"), "utf8");

/**
 * The core is more than half of what the widget is made of, and of no use before there is something to draw: what the
 * widget imports of it is, in the widget's bundle, a call of the same name in `core.js`. Constants are built in.
 */
const LATE_CORE = {
  name: "late-core",
  setup(plugins) {
    const widget = join(here, "src/element");
    plugins.onResolve({ filter: /^\.\.\/\w+\.js$/ }, ({ path, importer }) =>
      dirname(importer) === widget ? { path: join(widget, path.replace(/js$/, "ts")), namespace: "late" } : undefined,
    );
    plugins.onLoad({ filter: /./, namespace: "late" }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const exported = (kind) =>
        [...source.matchAll(new RegExp(`^export ${kind} (\\w+)`, "gm"))].map(([, name]) => name);
      const calls = exported("function").map((name) => {
        return `export const ${name} = (...given) => modelDiagramsCore.${name}(...given);`;
      });
      // else it would fail only when a reader first needs it
      if (calls.length > 0 && !CORE.includes(`"./${basename(path, ".ts")}.js"`)) {
        return { errors: [{ text: `src/core.ts lacks ${basename(path)}, whose functions the widget imports` }] };
      }
      return {
        contents: `export { ${exported("const")} } from ${JSON.stringify(path)};${calls.join("")}`,
        resolveDir: here,
      };
    });
  },
};

const bundles = [
  { name: "model-graph.js", entryPoints: ["src/element.ts"], target: "es2022", plugins: [LATE_CORE] },
  { name: "core.js", entryPoints: ["src/core.ts"], target: "es2022" },
  { name: "viz.js", stdin: { contents: VIZ, resolveDir: here }, target: "es2022" },
  // the embedded V8 has no browser around it: Node's and the browser's branches of viz-js are both dead there
  { name: "static.js", entryPoints: ["src/static.ts"], target: "es2022" },
  { name: "flat.js", entryPoints: ["src/flat/entry.ts"], target: "es2022", loader: { ".css": "text" } },
];

/** The font of flat pictures: as outlines, and embedded in PDF files. */
const FONTS = {
  "inter-regular.ttf": "node_modules/@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf",
  "inter-semibold.ttf": "node_modules/@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf",
};

/** A style sheet of these sources, minified. */
async function sheet(...sources) {
  const text = sources.map((file) => readFileSync(join(here, "src", file), "utf8")).join("\n");
  const { code } = await transform(text, { loader: "css", minify: true, target: "chrome111" });
  return code;
}

async function bundle({ name, ...options }) {
  const result = await build({ ...common, ...options, outfile: name });
  const script = result.outputFiles.find((file) => file.path.endsWith(name));
  writeFileSync(join(output, name), script.contents);
  return Object.keys(result.metafile.inputs).filter((input) => input.includes("node_modules/"));
}

mkdirSync(output, { recursive: true });
writeFileSync(join(output, "picture.css"), await sheet("picture.css"));
writeFileSync(join(output, "model-graph.css"), await sheet("picture.css", "style.css", "page.css"));
// for the widget's shadow root
common.define = { STYLE: JSON.stringify(await sheet("picture.css", "style.css")) };
const inputs = [];
for (const entry of bundles) inputs.push(...(await bundle(entry)));
for (const [name, file] of Object.entries(FONTS)) copyFileSync(join(here, file), join(output, name));
inputs.push(...Object.values(FONTS));
writeFileSync(join(output, "third-party-notices.txt"), notices(inputs));
