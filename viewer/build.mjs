/**
 * Builds the viewer: `node build.mjs [output folder]`. Needs no network; the same sources give the same bytes.
 *
 *   model-graph.js   the widget
 *   core.js, viz.js  the core and Graphviz, which the widget loads when needed
 *   explore.js       search and details, on first use
 *   menu.js          the menu, saving, help and permalinks, on first use
 *   compare.js       comparing two graphs, on first use
 *   prose.js         tours, and other text of a page that refers to parts of a diagram
 *   notes.js         notes next to their nodes, on pages that have any
 *   lenses.js        what parts of a model cost, on first use
 *   cases.js         chips above the picture, for diagrams of several cases
 *   sizes.js         other sizes of the inputs, on first use
 *   recording.js     recordings of a training, for diagrams that have one
 *   code.js          source lines in boxes, when a reader zooms in
 *   catalogue.js     catalogues of models, on their pages
 *   element.mjs      the widget as ES module, and element.d.mts its types
 *   packed.js        starts the widget on a page that contains all scripts in compressed form
 *   packed.json      those scripts, compressed
 *   packed.css       the style sheet of such a page
 *   notebook.js      puts such pages into notebook outputs
 *   static.js        the core for the embedded V8
 *   model-graph.css  the style sheet of pages
 *   picture.css      the style sheet of SVG files; difference.css, author.css and lens.css extend it for comparisons,
 *                    overlays and tour steps with a lens
 *   table.css        the style sheet of tables of modules
 *   catalogue.css    the style sheet of catalogues
 *   inter-*.ttf      the font of flat pictures
 *   third-party-notices.txt
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { notices } from "./notices.mjs";
import { mostPacked } from "./packing.mjs";
import { withoutUnusedFunctions } from "./viz_functions.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const output = resolve(process.argv[2] ?? join(here, "../src/modeldiagrams/render/static"));

/** A script contains only the memoised functions that it calls: making one has no side effects. */
const withoutUnusedMemos = {
  name: "without-unused-memos",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll(
        /= (memo(?:ByObject|ByKey|InObject)[(<])/g,
        "= /* @__PURE__ */ $1",
      ),
      loader: "ts",
    }));
  },
};

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
  plugins: [withoutUnusedMemos],
};

/** Readers download only the third of Graphviz's functions that layout calls. */
const onlyWhatIsCalled = {
  name: "without-unused-functions",
  setup({ onLoad }) {
    onLoad({ filter: /@viz-js\/viz\/dist\/viz\.js$/ }, async ({ path }) => ({
      contents: await withoutUnusedFunctions(readFileSync(path, "utf8")),
    }));
  },
};

/** The core is most of the code and useless until there is something to draw: the widget loads it as core.js. */
const CORE =
  /^src\/(graph|view|diff|layout|draw|flat|session|widget\/(cases|catalogue|code|comparing|exploring|lenses|menu|noting|sizes|watching))\//;

/** What needs graphs. */
const GRAPHS = /^src\/(graph|view|diff|layout|draw|flat|session)\//;

const bundles = [
  {
    name: "model-graph.js",
    entryPoints: ["src/entries/element.ts"],
    target: "es2022",
    forbidden: CORE,
    alias: { "d3-transition": "./src/widget/camera/no_transitions.ts" },
  },
  { name: "packed.js", entryPoints: ["src/entries/packed.ts"], target: "es2022" },
  { name: "notebook.js", entryPoints: ["src/entries/notebook.ts"], target: "es2022" },
  { name: "core.js", entryPoints: ["src/entries/core.ts"], target: "es2022", isLoadedLater: true },
  { name: "explore.js", entryPoints: ["src/entries/explore.ts"], target: "es2022", isLoadedLater: true },
  { name: "menu.js", entryPoints: ["src/entries/menu.ts"], target: "es2022", isLoadedLater: true },
  { name: "compare.js", entryPoints: ["src/entries/compare.ts"], target: "es2022", isLoadedLater: true },
  { name: "prose.js", entryPoints: ["src/entries/prose.ts"], target: "es2022", forbidden: CORE },
  { name: "lenses.js", entryPoints: ["src/entries/lenses.ts"], target: "es2022", isLoadedLater: true },
  { name: "notes.js", entryPoints: ["src/entries/notes.ts"], target: "es2022" },
  {
    name: "catalogue.js",
    entryPoints: ["src/entries/catalogue.ts"],
    target: "es2022",
    forbidden: GRAPHS,
    define: { POLICY: '"modeldiagrams-catalogue"' },
  },
  { name: "cases.js", entryPoints: ["src/entries/cases.ts"], target: "es2022" },
  { name: "recording.js", entryPoints: ["src/entries/recording.ts"], target: "es2022", isLoadedLater: true },
  { name: "sizes.js", entryPoints: ["src/entries/sizes.ts"], target: "es2022", isLoadedLater: true },
  { name: "code.js", entryPoints: ["src/entries/code.ts"], target: "es2022", isLoadedLater: true },
  {
    name: "viz.js",
    entryPoints: ["src/entries/viz.ts"],
    target: "es2022",
    plugins: [onlyWhatIsCalled, withoutUnusedMemos],
    // a function, so that a page can pass its text to a worker: scripts on disk can be neither read nor started as workers
    banner: { js: "globalThis.modelDiagramsEngine=(function(){" },
    footer: { js: "});globalThis.modelDiagramsEngine();" },
  },
  // the embedded V8 is neither Node nor a browser: viz-js's branches for both are dead code there
  { name: "static.js", entryPoints: ["src/entries/static.ts"], target: "es2022" },
];

/** Scripts that every file and notebook contains: compressed slowly but well at build time; similar ones together. */
const PACKED = ["model-graph.js", "core.js explore.js menu.js lenses.js", "viz.js"];

/** The font of flat pictures: drawn as outlines, and embedded in PDF files. */
const FONTS = {
  "inter-regular.ttf": "node_modules/@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf",
  "inter-semibold.ttf": "node_modules/@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf",
};

/** The module that generates style sheets from the palette. */
async function stylesheets() {
  const entryPoints = ["src/draw/stylesheet.ts"];
  const { outputFiles } = await build({ ...common, entryPoints, format: "esm", target: "node22" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

/** In cascade order. */
const WIDGET_STYLES = ["stage", "buttons", "controls", "panels", "highlight", "conditions"];
const PAGE_STYLES = ["page", "table", "difference", "notes", "images", "tour"];
/** For a page that is a single diagram, without the styles that the widget itself brings. */
const FILE_STYLES = ["stage", "buttons", "conditions", "page", "table", "difference", "notes", "images"];

function widgetStyle(name) {
  return readFileSync(join(here, "src/widget/style", `${name}.css`), "utf8");
}

/** Style sheets, joined and minified. */
async function sheet(...sources) {
  const text = sources.join("\n");
  const { code } = await transform(text, { loader: "css", minify: true, target: "chrome111" });
  return code;
}

async function bundle({ name, forbidden, isLoadedLater = false, ...options }) {
  const define = { ...common.define, ...options.define, IS_LOADED_LATER: String(isLoadedLater) };
  const result = await build({ ...common, ...options, define, outfile: name });
  const script = result.outputFiles.find((file) => file.path.endsWith(name));
  writeFileSync(join(output, name), script.contents);
  const inputs = Object.keys(result.metafile.inputs);
  const misplaced = forbidden && inputs.find((input) => forbidden.test(input));
  if (misplaced) throw new Error(`${name} must not contain ${misplaced}: import types only, and call it through Core`);
  return inputs.filter((input) => input.includes("node_modules/"));
}

mkdirSync(output, { recursive: true });
const { authorStylesheet, lensStylesheet, pictureStylesheet, classStylesheet, differenceStylesheet } =
  await stylesheets();
writeFileSync(join(output, "picture.css"), await sheet(pictureStylesheet()));
writeFileSync(join(output, "difference.css"), await sheet(differenceStylesheet()));
writeFileSync(join(output, "author.css"), await sheet(authorStylesheet()));
writeFileSync(join(output, "lens.css"), await sheet(lensStylesheet()));
const more = [classStylesheet(), differenceStylesheet(), authorStylesheet(), lensStylesheet()];
const shadow = [pictureStylesheet(), ...more, ...WIDGET_STYLES.map(widgetStyle)];
writeFileSync(join(output, "model-graph.css"), await sheet(...shadow, ...PAGE_STYLES.map(widgetStyle)));
const ofFiles = [pictureStylesheet(), ...more, ...FILE_STYLES.map(widgetStyle)];
writeFileSync(join(output, "packed.css"), await sheet(...ofFiles));
writeFileSync(join(output, "table.css"), await sheet(widgetStyle("table")));
writeFileSync(join(output, "catalogue.css"), await sheet(widgetStyle("catalogue")));
// for the widget's shadow root
common.define = {
  STYLE: JSON.stringify(await sheet(...shadow)),
  PROSE_STYLE: JSON.stringify(await sheet(widgetStyle("prose"))),
  EXPLORING_STYLE: JSON.stringify(await sheet(widgetStyle("exploring"))),
  MENU_STYLE: JSON.stringify(await sheet(widgetStyle("menu"))),
  COMPARING_STYLE: JSON.stringify(await sheet(widgetStyle("comparing"))),
  CASES_STYLE: JSON.stringify(await sheet(widgetStyle("cases"))),
  CODE_STYLE: JSON.stringify(await sheet(widgetStyle("code"))),
  LENSES_STYLE: JSON.stringify(await sheet(...["slider", "lenses"].map(widgetStyle))),
  SIZES_STYLE: JSON.stringify(await sheet(widgetStyle("sizes"))),
  RECORDING_STYLE: JSON.stringify(await sheet(...["slider", "recording"].map(widgetStyle))),
};
const inputs = [];
for (const entry of bundles) inputs.push(...(await bundle(entry)));
const script = (name) => readFileSync(join(output, name));
const texts = await Promise.all(PACKED.map((names) => mostPacked(Buffer.concat(names.split(" ").map(script)))));
writeFileSync(
  join(output, "packed.json"),
  JSON.stringify(Object.fromEntries(PACKED.map((names, i) => [names, texts[i]]))),
);
for (const name of ["element.mjs", "element.d.mts"]) copyFileSync(join(here, "element", name), join(output, name));
for (const [name, file] of Object.entries(FONTS)) copyFileSync(join(here, file), join(output, name));
inputs.push(...Object.values(FONTS));
writeFileSync(join(output, "third-party-notices.txt"), notices(inputs));
