/** What a reader has chosen, in the query of the page's address: fragments belong to the host and to diagrams. */

const NAMES = ["query", "sort", "in", "size"] as const;

/** As in addresses; empty texts are what a catalogue begins with. */
export type Choice = Readonly<Record<(typeof NAMES)[number], string>>;

/** @param place of the catalogue among those of the page */
export function choiceIn(search: string, place: number): Choice {
  const given = new URLSearchParams(search);
  return Object.fromEntries(NAMES.map((name) => [name, given.get(keyOf(place, name)) ?? ""])) as Choice;
}

/** The query with a choice, and all else that it has. */
export function searchWith(search: string, place: number, choice: Choice): string {
  const given = new URLSearchParams(search);
  for (const name of NAMES) {
    if (choice[name] === "") given.delete(keyOf(place, name));
    else given.set(keyOf(place, name), choice[name]);
  }
  return given.toString();
}

/** Put a choice into the address bar, without a history entry. */
export function keepInAddress(place: number, choice: Choice): void {
  const { search } = location;
  // an address that says the same stays as it was written
  if (searchWith(search, place, choice) === searchWith(search, place, choiceIn(search, place))) return;
  const url = new URL(location.href);
  url.search = searchWith(search, place, choice);
  try {
    history.replaceState(history.state, "", url);
  } catch {
    // some embedded pages can't change their address, and browsers limit how often
  }
}

/** `models` is the search of the first catalogue, `models2-sort` the order of the second. */
function keyOf(place: number, name: string): string {
  return `models${place > 0 ? place + 1 : ""}${name === "query" ? "" : `-${name}`}`;
}
