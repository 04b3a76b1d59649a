/** Messages of `catalogue.js`. */
import { withTranslations } from "./strings.js";

export const words = withTranslations({
  searchModels: "Search",
  searchModelsHint: "resnet, uses GroupNorm, -softmax",
  sortBy: "Sort by",
  name: "Name",
  firstVersion: "First version",
  ascending: "Sorted in ascending order; reverse it",
  descending: "Sorted in descending order; reverse it",
  within: "Show",
  withinAll: "All models",
  modules: "Modules",
  families: "Families",
  modelSize: "Size",
  anySize: "Any size",
  table: "Table",

  // the line of the result, and headings
  modelCount: "{0} models",
  allInFamilies: "{0} models in {1} families",
  someModels: "{0} of {1} models",
  useThese: "use {0}",
  areNamed: "match “{0}”",
  namedOrUse: "match “{0}” or use {1}",
  excluding: "without “{0}”",
  moreNames: "{0} more",

  // cards
  inputsOf: "Inputs",
  since: "Since",
  range: "{0}–{1}",
  assumedInputs: "assumed inputs",
  someAssumed: "some inputs are assumed",
  alsoNamed: "also {0}",
  modelsOf: "{0} models: {1}",
  matching: "{0} of them found",
  model: "Model",
  noDiagram: "No diagram: {0}",

  // comparing two
  pick: "Compare",
  pickThis: "Compare {0}",
  chooseSecond: "{0} is chosen. Choose a model to compare it with.",
  compareTwo: "Compare {0} with {1}",
  twoChosen: "{0} and {1} are chosen.",
  clearChoice: "Clear",
  comparedTitle: "{1} compared with {0}",
  closeComparison: "Close",
  failedModel: "{0} can’t be compared, because it has no diagram. {1}",
});
