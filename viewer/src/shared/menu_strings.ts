/** The words of the menu, which come with `menu.js`; sites translate them as all others. */
import { strings } from "./strings.js";

/** No key of the widget's own words: a site's translation is of one of them. */
type Unshared = Record<string, string> & { [Key in keyof typeof strings]?: never };

const ENGLISH = {
  linkCopied: "The link was copied.",
  linkShown: "The link stands in the address bar.",
  linkGone: "The link names {0}, which this model does not have; the nearest is {1}.",
} satisfies Unshared;

export const words: Readonly<typeof ENGLISH> = { ...ENGLISH, ...(strings as Partial<typeof ENGLISH>) };
