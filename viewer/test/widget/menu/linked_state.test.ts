import { expect, it } from "vitest";
import type { SessionState } from "../../../src/session/diagram_data.js";
import { Session } from "../../../src/session/session.js";
import { atOnce } from "../../../src/shared/slices.js";
import { emptyView, type LinkedView, linkText, partsOf } from "../../../src/widget/menu/link_text.js";
import { differences, linkedState } from "../../../src/widget/menu/linked_state.js";
import { type Scope, scopeOf, scopeText } from "../../../src/widget/picture/path_scope.js";
import { sketch } from "../../sketch.js";

const STATE: SessionState = { expanded: [], unrolled: [], direction: "TB" };
const graph = sketch("x > before/norm > before/mul > head/linear > head/relu > y", { before: "Before", head: "Head" });

function opened(plumbing: boolean): Session {
  return new Session({ graph, state: { ...STATE, plumbing } });
}

/** A view as another reader gets it. */
function sent(changes: Partial<LinkedView>): LinkedView {
  const view = partsOf(`#${linkText({ ...emptyView("Sketch", 0), ...changes })}`)[0]?.view;
  if (view === undefined) throw new Error("no link");
  return view;
}

it.each([
  [true, false],
  [false, true],
  [true, true],
  [false, false],
])("keeps plumbing that an author has %s and a reader %s", (authors, readers) => {
  const session = opened(authors);
  atOnce(session.show(({ state }) => ({ ...state, plumbing: readers }), null));
  expect(linkedState(opened(authors), sent(differences(session))).state.plumbing).toBe(readers);
});

it.each([
  ["Head", "head"],
  ["hea?", "head"],
  ["head/old", "head"],
  ["to:before", "to:before"],
  ["before", "before"],
  ["after", "after"],
])("finds the end %s of a path", (path, found) => {
  expect(linkedState(opened(false), sent({ at: "x", more: { path } })).more.path).toBe(found);
});

it("says that a path's end is gone, and shows none", () => {
  const { more, gone } = linkedState(opened(false), sent({ more: { path: "decoder" } }));
  expect([more.path, [...gone.keys()]]).toEqual(["", ["decoder"]]);
});

it("brings the end of a path into sight", () => {
  expect(linkedState(opened(false), sent({ more: { path: "head/relu" } })).state.expanded).toEqual(["head"]);
});

it.each<Scope>(["near", "before", "after", { pathTo: "before" }, { pathTo: "head" }])(
  "reads %o as it was written",
  (scope) => {
    expect(scopeOf(scopeText(scope))).toEqual(scope);
  },
);
