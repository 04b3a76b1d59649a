/** The words of comparisons, which come with `compare.js`; sites translate them as all others. */
import { strings } from "./strings.js";

/** No key of the widget's own words: a site's translation is of one of them. */
type Unshared = Record<string, string> & { [Key in keyof typeof strings]?: never };

const ENGLISH = {
  changes: "Changes",
  versions: "Versions",
  sideBefore: "Before",
  sideBoth: "Both",
  sideAfter: "After",
  compareWith: "Compare with",
  chooseVersion: "Choose a version",
  thisVersion: "this version",
  endComparison: "End the comparison (Esc)",
  noVersions: "No other version of this documentation was found.",
  noSuchVersion: "This documentation has no version {0}.",
  notLoaded: "{0} can't be compared: {1} did not load.",
  notShown: "{0} does not show this model, called in the same way.",
  noGraph: "{0} can't be compared: {1} is not a graph.",
  newerFormat: "{0} can't be compared: its graph has format {1}, which is newer than this viewer.",
  incomplete: "{0} can't be compared: its graph is incomplete, because the model raised an error or was not run.",
  nothingChanged: "Nothing changed between {0} and {1}.",
  unsure: "No difference was found, but the comparison is not reliable.",
  reservation: "reservation: {0}",
  architectures: "two different architectures, made of:",
  computedAlike: "the outputs are computed as before; only names, modules or what is trained differ",
  hiddenChanges: "{0} without effect on results",
  checkpoints: "checkpoints {0}",
  parametersOf: "parameters {0}",
  flopsOf: "FLOPs {0}",
  asBefore: "{0}, as before",
  uncounted: "not counted",
} satisfies Unshared;

export const words: Readonly<typeof ENGLISH> = { ...ENGLISH, ...(strings as Partial<typeof ENGLISH>) };
