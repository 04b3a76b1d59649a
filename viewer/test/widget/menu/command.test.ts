import { expect, it } from "vitest";
import { index } from "../../../src/graph/indexing.js";
import { Session } from "../../../src/session/session.js";
import { atOnce } from "../../../src/shared/slices.js";
import type { ViewOptions } from "../../../src/view/options.js";
import { flags } from "../../../src/widget/menu/command.js";
import { firstState } from "../../first_state.js";
import { sketch } from "../../sketch.js";

const graph = sketch("x > a.b/norm > a.b/mul > a/relu > c/norm > c/mul > y", { a: "A", "a.b": "it's", c: "C" });

function session(): Session {
  return new Session({ graph, state: firstState(index(graph), { depth: 0 }) });
}

/** What `modeldiagrams show` reads in these flags. */
function read(text: string): ViewOptions {
  const words = [...text.matchAll(/--(\w+) ('[^']*'|\S+)/g)].map(([, name, value = ""]) => [
    name,
    value.replaceAll("'", ""),
  ]);
  return Object.fromEntries(
    words.map(([name, value = ""]) => [name, /^[[\d]/.test(value) ? JSON.parse(value) : value]),
  );
}

it("are the author's until a reader opens or turns something", () => {
  expect(flags(session(), "--depth 0")).toBe("--depth 0");
});

it.each([
  ["opened", ["a", "a.b"], "TB"],
  ["turned", ["c"], "LR"],
] as const)("draw what a reader has %s", (_, open, direction) => {
  const shown = session();
  const state = { ...shown.state, expanded: [...open], direction };
  atOnce(shown.show(() => state, null));
  const { expanded, direction: drawn } = firstState(index(graph), read(flags(shown, "--depth 0")));
  expect([expanded, drawn]).toEqual([[...open], direction]);
});

it("close everything", () => {
  const shown = new Session({ graph, state: firstState(index(graph), { expand: ["a"] }) });
  atOnce(shown.show(({ state }) => ({ ...state, expanded: [] }), null));
  expect(flags(shown, "--expand a")).toBe("--depth 0 --direction TB");
});
