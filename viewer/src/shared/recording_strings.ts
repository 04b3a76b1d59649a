/** Messages of `recording.js`. */
import { withTranslations } from "./strings.js";

export const words = withTranslations({
  training: "Training",
  recorded: "Recorded values",
  stepOf: "Step {0}",
  lossAt: "loss {0}",
  noLoss: "no loss was recorded",
  tintBy: "Tint by",
  noTint: "nothing",
  run: "Run",
  runs: "Runs",

  // measures, with their units
  gradientSize: "gradient, root mean square",
  updateRatio: "update / weight, ratio of norms",
  deadUnits: "dead units, % of units",
  outputSize: "output, root mean square",
  outputZeros: "zeros in the output, % of values",
  weightSize: "weights, root mean square",
  notFinite: "not finite, % of values",

  // kinds of tensors
  tensorActivation: "Output",
  tensorGradient: "Gradient of the output",
  tensorParameter: "Parameter",
  tensorParameterGradient: "Gradient of",
  tensorUpdate: "Update of",
  repeatShown: "Repeat",

  // columns of tables
  node: "Node",
  tensor: "Tensor",
  min: "min",
  max: "max",
  mean: "mean",
  rms: "rms",
  zeros: "zeros",
  bad: "not finite",
  dead: "dead units",
  ratio: "update / weight",

  // legend
  unseen: "not seen",
  noValue: "not measured",
  isNotFinite: "not finite",
  worst: "A box has the colour of the worst of its values; the strips below it are its repeats.",
  twoRuns: "The upper strips are those of {0}, the lower ones of {1}.",

  findings: "What to look at",
  nothingFound: "Nothing unusual was found.",
  missing: "Recorded, but not in this diagram",
  chooseNode: "Choose a node of the diagram to see its values over time.",
  nothingRecorded: "Nothing was recorded of {0}.",
  tensorShown: "Tensor",
  heatLabel: "{0}: values over time as a heat map; the figures are in the table",
  heatCaption: "values by step; stronger colour: more of them",
  zeroRow: "0",
  figures: "Figures at step {0}",
  figuresOf: "Figures of {0} at step {1}",
  wholeModel: "the model",
  waiting: "Waiting for the first recorded step…",
  live: "Live: this page follows the file.",
  lost: "The connection was lost. Trying again…",
  ended: "The file can't be read: {0}",
  hide: "Hide the training",

  // files that readers open
  openFile: "Open a recording…",
  closeFile: "Close {0}",
  reading: "Reading {0}…",
  notRead: "{0} can't be shown: {1}",
  noRecording: "it is not a recording (.mdwatch)",
  otherModel: "it is a recording of another model",
  onlyNoticed:
    "Read in the browser: the list contains only what was noticed during the training. “modeldiagrams watch” also looks for dead units, gradients, frozen layers and jumps.",
  wasTraced: "The model was also exported or traced, which is not recorded.",
});
