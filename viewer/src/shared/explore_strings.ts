/** The words of search and details, which come with `explore.js`; sites translate them as all others. */
import { strings } from "./strings.js";

/** No key of the widget's own words: a site's translation is of one of them. */
type Unshared = Record<string, string> & { [Key in keyof typeof strings]?: never };

const ENGLISH = {
  // details of a node
  detailsBelow: "Details of {0} are below the diagram",
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
  tied: "Tied weights",
  assumptions: "Assumed",
  asOptions: "As options",
  error: "Error",
  ofAll: "×{0}: {1}",
  each: "each {0}",
  differing: "Where they differ",
  more: "More",
  less: "Less",
  copyName: "Copy the name",
  repeats: "Repeats",
  openRepeat: "Open one of {0}…",
  own: "{0} of its own",
  trainable: "{0} trainable",
  frozen: "frozen",

  // search
  hitList: "Found nodes",
  found: "{0} found",
  noHits: "Nothing found",
  leftOutHits: "Only what the picture leaves out matches: reshapes, casts and constants.",
  similarHits: "Nothing matches exactly; these are similar.",
  moreHits: "{0} more kinds match.",
  next: "Next (Enter)",
  previous: "Previous (Shift+Enter)",
} satisfies Unshared;

/** Those that the widget has, too, are among them. */
export const words: Readonly<typeof ENGLISH & typeof strings> = { ...ENGLISH, ...strings };
