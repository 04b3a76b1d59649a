/**
 * All messages of the widget. A site translates them in a script that runs before the widget's:
 * `globalThis.modelDiagramsStrings = { zoomIn: "Vergrößern", … }`. Missing keys stay English; `{0}` and `{1}` are
 * placeholders.
 */
const ENGLISH = {
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  fit: "Show the whole picture",
  fullscreen: "Fullscreen",
  menu: "More controls",
  explore: "Explore",
  unroll: "Show all {0}, one by one (R)",
  roll: "Show the {0} as one (R)",
  controls: "Diagram controls",
  loading: "Loading…",
  stop: "Stop (Esc)",
  stopped: "Stopped.",
  retry: "Try again",
  stillPicture:
    "The diagram isn't interactive: this page or browser doesn't allow WebAssembly (script-src 'wasm-unsafe-eval').",
  loadFailed: "The diagram can't be opened because {0} did not load.",
  drawFailed: "This part of the diagram could not be drawn.",

  wheel: "{0} + wheel zooms",
  areas: "Areas: {0}",

  // details of a node; more is in explore_strings.ts
  details: "Details (I)",
  close: "Close (Esc)",
  parameters: "Parameters",
  flops: "FLOPs",
  memory: "Activations",
  call: "call {0}",

  // below the picture: what was entered, and how to leave it
  modes: "Active modes",
  leave: "Leave “{0}” (Esc)",

  // opening and closing
  opened: "{0} open",
  closed: "{0} closed",
  openLevels: "Open to level",
  openInside: "Open all inside",
  closeInside: "Close all inside",
  alone: "Show alone",
  isAlone: "{0} alone",
  path: "Path in the model",

  // search; more is in explore_strings.ts
  search: "Search (/)",
  searchHint: "Path, class, operation or shape",
  hits: "{0} of {1}",

  setSizes: "Set the sizes of inputs",

  // what changed between versions; more is in comparison_strings.ts
  previousChange: "Previous change",
  nextChange: "Next change",
  compare: "Compare with another version…",

  // a recorded training; more is in recording_strings.ts
  showTraining: "Show the training",

  // paths
  before: "What leads here",
  after: "What follows",
  wayTo: "Path to…",
  wayHint: "Choose the other end.",
  way: "Path from {0} to {1}",
  waysBefore: "All paths to {0}",
  waysAfter: "All paths from {0}",
  noWay: "There is no path between these two.",

  // colours
  colours: "Colour by",
  kind: "Kind",
  intensity: "FLOPs per byte",
  time: "Own time",
  class: "Class",

  // in the picture
  sameWeights: "same weights",
  tiedToOthers: "tied",
  tensors: "{0} tensors",
  forced: "forced, not seen",
  forcedSign: "forced",
  someOnly: "some only {0}",
  onlyInCases: "only in {0}",
  assumed: "assumed",
  notTraced: "other side not traced (line {0})",
  lineOf: "line {0}",
  partRan: "{0} of {1} {2} ran",
  recursion: "recursion, {0} calls",
  sizeNames: "Numbers instead of names of sizes (S)",
  // the meaning of names, below it
  image: "image",
  here: "{0} here",
  multiples: "multiples of {0}",
  multiplesPlus: "multiples of {0} plus {1}",
  atMost: "at most {0}",
  checkedTo: "checked up to {0}",
  pickedBy: "picked by {0}",
  fixedSize: "{0} = {1} is fixed: {2}",
  unnamed: "no expression for the size: {0}",
  // and in its legend
  embedding: "embedding",
  attention: "attention",
  linear: "linear",
  convolution: "convolution",
  recurrence: "recurrence",
  normalisation: "normalisation",
  activation: "activation",
  pooling: "pooling",
  loss: "loss",
  "mixed or other": "mixed or other",

  /** How numbers are written: a language tag such as `de` or `pt-BR`. */
  numbers: "en",
};

declare global {
  var modelDiagramsStrings: Partial<typeof ENGLISH> | undefined;
  /** Set by the widget for the scripts that it loads later, so that they don't repeat all messages. */
  var modelDiagramsWords: Readonly<typeof ENGLISH>;
}

/** Whether the widget loads this script later; set by the build. */
declare const IS_LOADED_LATER: boolean;

if (typeof IS_LOADED_LATER === "undefined" || !IS_LOADED_LATER)
  globalThis.modelDiagramsWords = { ...ENGLISH, ...globalThis.modelDiagramsStrings };

export const strings: Readonly<typeof ENGLISH> = globalThis.modelDiagramsWords;

/** Keys must differ from those of the widget's own messages: a site translates all of them in one object. */
type Unshared = Record<string, string> & { [Key in keyof typeof ENGLISH]?: never };

/** The messages of a script and those of the widget, translated by the site. */
export function withTranslations<Words extends Unshared>(
  english: Words,
): Readonly<Record<keyof Words, string> & typeof ENGLISH> {
  return { ...english, ...strings };
}

/** Fill in the placeholders of a text. */
export function fill(text: string, ...values: (string | number)[]): string {
  return text.replace(/\{(\d)\}/g, (_, position: string) => String(values[Number(position)] ?? ""));
}
