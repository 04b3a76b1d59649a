/** The line that says how many models were found, and why. */
import { exact } from "../../shared/amounts.js";
import { words } from "../../shared/catalogue_strings.js";
import { fill } from "../../shared/strings.js";
import type { Listing } from "./catalogue_data.js";
import { someOf } from "./figures.js";
import type { Criterion } from "./query.js";
import type { Result } from "./selection.js";

export function resultLine({ models, entries }: Listing, { count, criteria }: Result): string {
  const all = exact(models.length);
  if (criteria.length > 0)
    return [fill(words.someModels, exact(count), all), criteria.map(reason).join(", ")].join(" ");
  if (count < models.length) return fill(words.someModels, exact(count), all);
  const isInFamilies = entries.length < models.length;
  return isInFamilies ? fill(words.allInFamilies, all, exact(entries.length)) : fill(words.modelCount, all);
}

function reason({ word, isName, isExcluded, used }: Criterion): string {
  if (isExcluded) return fill(words.excluding, word);
  if (used.length === 0) return fill(words.areNamed, word);
  return isName ? fill(words.namedOrUse, word, someOf(used)) : fill(words.useThese, someOf(used));
}
