/**
 * All words of the widget. A site translates them in a script that runs before the widget's:
 * `globalThis.modelDiagramsStrings = { zoomIn: "Vergrößern", … }`; missing keys stay English. `{0}` and `{1}` are
 * placeholders.
 */
const ENGLISH = {
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  fit: "Show the whole picture",
  fullscreen: "Fullscreen",
  menu: "More controls",
  plumbing: "Show reshapes, casts and constants, too",
  unroll: "Show all {0}, one by one (R)",
  roll: "Show the {0} as one (R)",
  controls: "Diagram controls",
  loading: "Loading…",
  retry: "Try again",
  stillPicture:
    "The diagram stays a picture: this page or browser does not allow WebAssembly (script-src 'wasm-unsafe-eval').",
  loadFailed: "The diagram can't be opened because {0} did not load.",
  drawFailed: "This part of the diagram could not be drawn.",

  wheel: "{0} + wheel zooms",
  copyLink: "Copy a link to this view",
  save: "Save as",

  // details of a node
  details: "Details (I)",
  detailsBelow: "Details of {0} are below the diagram",
  close: "Close (Esc)",
  copy: "Copy",
  copied: "Copied",
  moreLines: "… {0} more",
  moreLetters: "… ({0} more characters)",
  author: "By the author",
  shownAs: "shown as “{0}”",
  hiddenNode: "left out of the picture",
  leftOut: "left out of the picture: {0}",
  authorsGroup: "a group of several, not in the code",
  inputs: "Inputs",
  outputs: "Outputs",
  arguments: "Arguments",
  calledAt: "Called at",
  weights: "Weights",
  parameters: "Parameters",
  flops: "FLOPs",
  memory: "Activations",
  tied: "Tied weights",
  assumptions: "Assumed",
  asOptions: "As options",
  error: "Error",
  repeats: "Repeats",
  openRepeat: "Open one of {0}…",
  call: "call {0}",
  own: "{0} of its own",
  trainable: "{0} trainable",
  frozen: "frozen",

  // below the picture: what was entered, and how to leave it
  modes: "What is on",
  leave: "Leave “{0}” (Esc)",

  // opening and closing
  opened: "{0} open",
  closed: "{0} closed",
  openLevels: "Open to level",
  all: "all",
  reset: "As the author shows it",
  openInside: "Open all inside",
  closeInside: "Close all inside",
  alone: "Show alone",
  isAlone: "{0} alone",
  path: "Path in the model",

  // search
  search: "Search (/)",
  searchHint: "Path, class, operation or shape",
  hits: "{0} of {1}",
  noHits: "Nothing found",
  next: "Next (Enter)",
  previous: "Previous (Shift+Enter)",

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
  noWay: "Nothing flows between these two.",

  // colours
  colours: "Colour by",
  kind: "Kind",
  class: "Class",

  // in the picture
  sameWeights: "same weights",
  tiedToOthers: "tied",
  tensors: "{0} tensors",
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
}

export const strings: Readonly<typeof ENGLISH> = { ...ENGLISH, ...globalThis.modelDiagramsStrings };

/** A text with its placeholders filled in. */
export function fill(text: string, ...values: (string | number)[]): string {
  return text.replace(/\{(\d)\}/g, (_, position: string) => String(values[Number(position)] ?? ""));
}
