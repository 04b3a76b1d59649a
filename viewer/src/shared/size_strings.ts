/** Messages of `sizes.js`. */
import { withTranslations } from "./strings.js";

export const words = withTranslations({
  sizesGroup: "Sizes of the inputs",
  smaller: "Smaller {0} (Shift: half)",
  larger: "Larger {0} (Shift: double)",
  resetSizes: "Reset",
  setTo: "{0} = {1}",
  toldAt: "{0}: {1}",
  activationsOf: "{0} activations",
  unitFlops: "FLOPs",
  mostly: "{0}, {1} {2}",

  // why a size can't be a number, as in ir/chosen_sizes.py
  refused: "{0} = {1}: {2}",
  notWhole: "expected a whole number such as {0}",
  takesAtMost: "the model takes at most {0}",
  takesFrom: "expected at least {0}, the smallest size that is known to work",
  holdsFor: "expressions hold for multiples of {0}; {1}",
  holdsForMore: "expressions hold for multiples of {0} plus {1}; {2}",
  nearest: "the nearest is {0}",
  nearestTwo: "the nearest are {0} and {1}",
});
