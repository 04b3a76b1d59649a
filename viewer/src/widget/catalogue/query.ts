/**
 * What readers search for. A model must match each word: as a part of one of its names, or as the full name of a layer or an
 * op that it uses. After `uses`, and if no name contains the word, a part of a layer's or op's name is enough. `-` before a
 * word excludes what matches it.
 */
import type { Steps } from "../../shared/slices.js";
import type { Listing, Model } from "./catalogue_data.js";

export interface Term {
  /** In lower case. */
  word: string;
  /** Whether it follows `uses`, and so is no name of a model. */
  isUse: boolean;
  isExcluded: boolean;
}

/** A word of a query, and what it matches in a catalogue. */
export interface Criterion extends Term {
  /** Whether the name of any model contains it. */
  isName: boolean;
  /** The layers and ops that it matches. */
  used: string[];
  matches(model: Model): boolean;
}

const USES = /^uses?:?$/;

export function termsOf(query: string): Term[] {
  const terms: Term[] = [];
  let isUse = false;
  for (const part of query.toLowerCase().split(/\s+/)) {
    const isExcluded = part.startsWith("-");
    const word = isExcluded ? part.slice(1) : part;
    if (USES.test(word)) isUse = true;
    else if (word !== "") {
      terms.push({ word, isUse, isExcluded });
      isUse = false;
    }
  }
  return terms;
}

/** What each word of a query matches. */
export function* criteriaOf(query: string, { data, models }: Listing): Steps<Criterion[]> {
  const found: Criterion[] = [];
  for (const term of termsOf(query)) {
    const { word, isUse } = term;
    const isName = !isUse && models.some(({ text }) => text.includes(word));
    yield;
    const exact = (name: string) => name.toLowerCase() === word;
    const part = (name: string) => name.toLowerCase().includes(word);
    const isExact = isName || [...data.layers, ...data.ops].some(exact);
    found.push(criterion(term, isName, isExact ? exact : part, data));
  }
  return found;
}

function criterion(term: Term, isName: boolean, isUsed: (name: string) => boolean, data: Listing["data"]): Criterion {
  const [layers, ops] = [data.layers, data.ops].map(
    (names) => new Set(names.flatMap((n, i) => (isUsed(n) ? [i] : []))),
  );
  const combinations = data.uses.map(([ls, os]) => ls.some((i) => layers?.has(i)) || os.some((i) => ops?.has(i)));
  const used = [...data.layers, ...data.ops].filter(isUsed);
  const matches = ({ text, combination }: Model) =>
    ((isName && text.includes(term.word)) || combinations[combination] === true) !== term.isExcluded;
  return { ...term, isName, used: [...new Set(used)], matches };
}
