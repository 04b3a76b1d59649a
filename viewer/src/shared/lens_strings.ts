/** The words of lenses, which come with `lenses.js`; sites translate them as all others. */
import { strings } from "./strings.js";

/** No key of the widget's own words: a site's translation is of one of them. */
type Unshared = Record<string, string> & { [Key in keyof typeof strings]?: never };

const ENGLISH = {
  lensOf: "{0}: {1} in all",
  ofWhole: "{0} of all",
  unitFlops: "FLOPs",
  unitIntensity: "FLOP/B",
  lensHint: "A bar is a box’s share of the whole model; a box with ×12 counts all 12.",
  intensityHint: "FLOPs per byte that the ops read and write; a bar is on a scale of ratios.",
  sharedHint: "Weights that several boxes use count in each of them.",
  notShown: "{0} is in nothing that the picture shows.",
  atLeast: "≥ {0}",
  lessThan: "< {0}",
} satisfies Unshared;

export const words: Readonly<typeof ENGLISH> = { ...ENGLISH, ...(strings as Partial<typeof ENGLISH>) };
