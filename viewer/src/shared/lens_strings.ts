/** Messages of `lenses.js`. */
import { withTranslations } from "./strings.js";

export const words = withTranslations({
  lensOf: "{0}: {1} in total",
  ofWhole: "{0} of the total",
  unitFlops: "FLOPs",
  unitIntensity: "FLOP/B",
  lensHint: "A bar is a box’s share of the whole model; a box that stands for several blocks counts all of them.",
  intensityHint: "FLOPs per byte that ops read or write; bars are on a logarithmic scale.",
  timeHint: "Time measured inside PyTorch’s functions, without the Python code between them.",
  atSizes: "At {0}.",
  timesAtSizes: "Times are known at the sizes of the pass only, not at {0}.",
  perCase: "Costs are per case: these are those of {0}. Choose a case above the picture for its own.",
  largestInside:
    "A closed module without a number of its own, and a box that stands for several blocks, show the largest inside.",
  furthestInside:
    "A closed module without a number of its own, and a box that stands for several blocks, show the one furthest from 0.",
  haveNumber: "{0} of {1} nodes have a number.",
  nameNoNode: "Numbers that name no node: {0} ({1}).",
  notNumbers: "NaN or infinite: {0}.",
  offScale: "Not above 0, so without a bar: {0}.",
  sharedHint: "Weights that several boxes share count in each of them.",
  notShown: "No box of the picture contains {0}.",
  atLeast: "≥ {0}",
  lessThan: "< {0}",

  // the table
  costTable: "Costs",
  table: "Table (T)",
  tableHint: "A row for each closed box of the picture; open a module to see its parts.",
  moreRows: "{0} more rows are in the file.",
  saveCsv: "Save as CSV",
  box: "Box",
  times: "Count",

  // the memory over the pass
  memoryOverPass: "Activations alive over the pass",
  peak: "Peak {0}: {1}",
  aliveAt: "Op {0} of {1}, {2}: {3} alive",
  memoryHint:
    "A tensor is alive from the op that makes it to the last one that needs it. Weights, inputs, gradients and the workspace of kernels come on top.",
});
