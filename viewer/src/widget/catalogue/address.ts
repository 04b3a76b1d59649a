/** What a reader has chosen, in the query of the page's address: fragments belong to the host and to diagrams. */
import { type Choice, SORTS } from "./selection.js";

/** Of the first catalogue of a page; the second has `models2`. */
const PREFIX = "models";

export function choiceIn(search: string, place: number): Choice {
  const given = new URLSearchParams(search);
  const value = (name: string) => given.get(keyOf(place, name)) ?? "";
  const [, sign, by] = /^(-?)(.*)$/.exec(value("sort")) ?? [];
  return {
    query: value(""),
    sort: SORTS.find((one) => one === by) ?? "name",
    isDescending: sign === "-",
    within: value("in"),
    size: value("size"),
  };
}

/** The query with a choice, and all else that it has. */
export function searchWith(search: string, place: number, { query, sort, isDescending, within, size }: Choice): string {
  const given = new URLSearchParams(search);
  const order = `${isDescending ? "-" : ""}${sort}`;
  const values = { "": query.trim(), sort: order === "name" ? "" : order, in: within, size };
  for (const [name, value] of Object.entries(values)) {
    const key = keyOf(place, name);
    if (value === "") given.delete(key);
    else given.set(key, value);
  }
  const text = given.toString();
  return text === "" ? "" : `?${text}`;
}

/** Put a choice into the address bar, without a history entry. */
export function keepInAddress(place: number, choice: Choice): void {
  const search = searchWith(location.search, place, choice);
  // an address that says the same stays as it was written
  if (search === searchWith(location.search, place, choiceIn(location.search, place))) return;
  const url = new URL(location.href);
  url.search = search;
  try {
    history.replaceState(history.state, "", url);
  } catch {
    // some embedded pages can't change their address, and browsers limit how often
  }
}

function keyOf(place: number, name: string): string {
  return `${PREFIX}${place > 0 ? place + 1 : ""}${name && `-${name}`}`;
}
