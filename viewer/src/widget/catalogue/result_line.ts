/** The line that says how many models were found, and why. */
import { exact } from "../../shared/amounts.js";
import { words } from "../../shared/catalogue_strings.js";
import { fill } from "../../shared/strings.js";
import type { Listing } from "./catalogue_data.js";
import type { Criterion } from "./query.js";
import type { Result } from "./selection.js";

/** Names of layers and ops that are told of one word. */
const MOST_NAMES = 3;

export function resultLine({ models, entries }: Listing, { count, criteria }: Result): string {
  const all = exact(models.length);
  if (criteria.length > 0) {
    const reasons = criteria.map(reason).reduce((before, one) => fill(words.and, before, one));
    return fill(words.someModelsWho, exact(count), all, reasons);
  }
  if (count < models.length) return fill(words.someModels, exact(count), all);
  return entries.length < models.length
    ? fill(words.allInFamilies, all, exact(entries.length))
    : fill(words.allModels, all);
}

function reason({ word, isName, isExcluded, used }: Criterion): string {
  const names = namesOf(used);
  if (!isName && used.length > 0) return fill(isExcluded ? words.notUseThese : words.useThese, names);
  if (used.length === 0) return fill(isExcluded ? words.notNamed : words.areNamed, word);
  return fill(isExcluded ? words.notNamedNorUse : words.namedOrUse, word, names);
}

function namesOf(used: string[]): string {
  const rest = used.length - MOST_NAMES;
  const told = rest > 0 ? [...used.slice(0, MOST_NAMES), fill(words.moreNames, rest)] : used;
  const last = told.at(-1) ?? "";
  return told.length < 2 ? last : fill(words.or, told.slice(0, -1).join(", "), last);
}
