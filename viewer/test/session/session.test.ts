import { expect, it } from "vitest";
import { detailsOf } from "../../src/session/details.js";
import type { SessionState } from "../../src/session/diagram_data.js";
import { Session } from "../../src/session/session.js";
import { sketch } from "../sketch.js";

const COLLAPSED: SessionState = { expanded: [], unrolled: [], direction: "TB" };

it("caches the graphs of the modules that were isolated last", () => {
  const names = [..."abcdefgh"];
  const steps = names.flatMap((name) => [`${name}/norm`, `${name}/mul`]);
  const modules = Object.fromEntries(names.map((name) => [name, name.toUpperCase()]));
  const session = new Session({ graph: sketch(["x", ...steps, "y"].join(" > "), modules), state: COLLAPSED });
  const isolated = (root: string) => session.visibleGraph({ ...COLLAPSED, root });
  const first = isolated("a");
  expect(isolated("a")).toBe(first);
  for (const name of names) isolated(name);
  expect(isolated("h")).toBe(isolated("h"));
  expect(isolated("a")).not.toBe(first);
  expect(isolated("a").graph).toEqual(first.graph);
});

const nested = sketch("x > a.b/norm > a.b/mul > a/relu > y", { a: "A", "a.b": "B" });
const repeated = sketch(["x", ...[..."012"].flatMap((i) => [`b.${i}/norm`, `b.${i}/mul`]), "y"].join(" > "), {
  "b.0": "Block",
  "b.1": "Block",
  "b.2": "Block",
});

it("names the modules around the isolated one, outermost first", () => {
  const session = new Session({ graph: nested, state: { ...COLLAPSED, root: "a.b" } as SessionState });
  expect(session.isolatedPath()).toEqual([
    { id: "a", name: "a" },
    { id: "a.b", name: "b" },
  ]);
});

it("describes a node, and the model for an empty id", () => {
  const session = new Session({ graph: nested, state: COLLAPSED });
  expect(detailsOf(session, "a.b")).toMatchObject({ title: "a.b", type: "test.B", shortType: "B" });
  expect(detailsOf(session, "").title).toBe(nested.model.name);
});

it("lists the nodes that are drawn as one", () => {
  const session = new Session({ graph: repeated, state: COLLAPSED });
  expect(session.rolled().all("b.0")).toEqual(["b.0", "b.1", "b.2"]);
  expect(session.rolled().all("input:x")).toEqual(["input:x"]);
});

it("returns other states without changing its own", () => {
  const session = new Session({ graph: nested, state: COLLAPSED });
  expect(session.transitions.toggle("a").expanded).toEqual(["a"]);
  expect(session.transitions.expandTo(1).expanded).toEqual(["a"]);
  expect(session.transitions.reveal("a.b/mul").expanded).toEqual(["a", "a.b"]);
  expect(session.state).toBe(COLLAPSED);
});
