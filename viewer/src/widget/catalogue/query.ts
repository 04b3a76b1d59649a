/**
 * What readers search for. A model must match each word: as a part of one of its names, or as the full name of a layer or an
 * op that it uses. After `uses`, and if no model's name contains the word, a part of a layer's or op's name is enough, unless
 * one has this name. `-` before a word excludes what matches it.
 */
import type { Steps } from "../../shared/slices.js";
import type { Listing, Model } from "./catalogue_data.js";

/** A word of a query, in lower case. */
export interface Term {
  word: string;
  /** Whether it follows `uses`, and so is no name of a model. */
  isUse: boolean;
  isExcluded: boolean;
}

/** A word, and what it matches in a catalogue. */
export interface Criterion extends Term {
  /** Whether the name of any model contains it. */
  isName: boolean;
  /** The layers and ops that it matches. */
  used: string[];
  matches(model: Model): boolean;
}

export function termsOf(query: string): Term[] {
  const terms: Term[] = [];
  let isUse = false;
  for (const part of query.toLowerCase().split(/\s+/)) {
    const word = part.replace(/^-/, "");
    const isUses = /^uses?:?$/.test(word);
    if (word !== "" && !isUses) terms.push({ word, isUse, isExcluded: part !== word });
    if (word !== "") isUse = isUses;
  }
  return terms;
}

/** What each word of a query matches. */
export function* criteriaOf(query: string, { data, models }: Listing): Steps<Criterion[]> {
  const names = [...data.layers, ...data.ops];
  const found: Criterion[] = [];
  for (const term of termsOf(query)) {
    const { word } = term;
    const isName = !term.isUse && models.some(({ text }) => text.includes(word));
    yield;
    const isExact = isName || names.some((name) => name.toLowerCase() === word);
    const isUsed = (name: string) => (isExact ? name.toLowerCase() === word : name.toLowerCase().includes(word));
    const [layers = [], ops = []] = [data.layers, data.ops].map((all) => all.map(isUsed));
    const uses = data.uses.map((of) => of[0].some((at) => layers[at]) || of[1].some((at) => ops[at]));
    const matches = (model: Model) =>
      ((isName && model.text.includes(word)) || uses[model.uses ?? -1] === true) !== term.isExcluded;
    found.push({ ...term, isName, used: [...new Set(names.filter(isUsed))], matches });
  }
  return found;
}
