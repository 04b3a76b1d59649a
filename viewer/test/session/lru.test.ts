import { expect, it } from "vitest";
import { LruMap } from "../../src/session/lru.js";

it("drops the least recently used entry", () => {
  const map = new LruMap<string, number>(2);
  map.set("a", 1).set("b", 2);
  expect(map.get("a")).toBe(1);
  map.set("c", 3);
  expect([...map.keys()]).toEqual(["a", "c"]);
  expect(map.get("b")).toBeUndefined();
  map.set("a", 4);
  expect([...map.entries()]).toEqual([
    ["c", 3],
    ["a", 4],
  ]);
});
