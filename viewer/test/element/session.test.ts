import { expect, it } from "vitest";
import { Session, type Shown } from "../../src/element/session.js";
import { sketch } from "../sketch.js";

const CLOSED: Shown = { expanded: [], unrolled: [], direction: "TB" };

it("keeps the parts that were shown last, and lets go of the others", () => {
  const names = [..."abcdefgh"];
  const steps = names.flatMap((name) => [`${name}/norm`, `${name}/mul`]);
  const modules = Object.fromEntries(names.map((name) => [name, name.toUpperCase()]));
  const session = new Session({ graph: sketch(["x", ...steps, "y"].join(" > "), modules), state: CLOSED });
  const alone = (root: string) => session.shown({ ...CLOSED, root });
  const first = alone("a");
  expect(alone("a")).toBe(first);
  for (const name of names) alone(name);
  expect(alone("h")).toBe(alone("h"));
  expect(alone("a")).not.toBe(first);
  expect(alone("a").graph).toEqual(first.graph);
});
