/** Messages of `sizes.js`. */
import { withTranslations } from "./strings.js";

export const words = withTranslations({
  sizesGroup: "Sizes of the inputs",
  smaller: "Smaller {0} (Shift: half)",
  larger: "Larger {0} (Shift: double)",
  resetSizes: "Reset",
  toldAt: "{0}: {1}",
  activationsOf: "{0} activations",
  unitFlops: "FLOPs",
  mostly: "{0}, {1} {2}",

  // why a size can't be a number, as in ir/chosen_sizes.py
  refused: "{0} = {1}: {2}",
  notWhole: "expected a whole number such as {0}",
  takesAtMost: "the model takes at most {0}",
  checkedOnlyTo: "expressions are checked up to {0} only; trace the model at a larger size",
  takesFrom: "expected at least {0}, the smallest that was tried; for smaller ones, trace the model at one",
  holdsFor: "expressions hold for multiples of {0}; {1}",
  holdsForMore: "expressions hold for multiples of {0} plus {1}; {2}",
  notTogether: "{0}: expected sizes for which {1} is a whole number",
  nearest: "the nearest is {0}",
  nearestTwo: "the nearest are {0} and {1}",
});
