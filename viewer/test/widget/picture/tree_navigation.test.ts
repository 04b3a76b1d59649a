import { describe, expect, it } from "vitest";
import { ranks, step, type TreeItem } from "../../../src/widget/picture/tree_navigation.js";

/**
 * x
 * encoder ─┬─ attention (collapsed)
 *          └─ mlp ── up
 * y
 */
const items: TreeItem[] = [
  { level: 1, expanded: undefined },
  { level: 1, expanded: true },
  { level: 2, expanded: false },
  { level: 2, expanded: true },
  { level: 3, expanded: undefined },
  { level: 1, expanded: undefined },
];
const [X, ENCODER, ATTENTION, MLP, UP, Y] = [0, 1, 2, 3, 4, 5] as const;

describe("step", () => {
  it("moves in reading order and stops at both ends", () => {
    expect(step(items, X, "ArrowDown")).toEqual({ to: ENCODER });
    expect(step(items, UP, "ArrowDown")).toEqual({ to: Y });
    expect(step(items, Y, "ArrowUp")).toEqual({ to: UP });
    expect(step(items, X, "ArrowUp")).toBeUndefined();
    expect(step(items, Y, "ArrowDown")).toBeUndefined();
  });

  it("jumps to the ends", () => {
    expect(step(items, MLP, "Home")).toEqual({ to: X });
    expect(step(items, MLP, "End")).toEqual({ to: Y });
  });

  it("expands and enters with the right arrow", () => {
    expect(step(items, ATTENTION, "ArrowRight")).toBe("toggle");
    expect(step(items, ENCODER, "ArrowRight")).toEqual({ to: ATTENTION });
    expect(step(items, UP, "ArrowRight")).toBeUndefined();
  });

  it("collapses and leaves with the left arrow", () => {
    expect(step(items, MLP, "ArrowLeft")).toBe("toggle");
    expect(step(items, ATTENTION, "ArrowLeft")).toEqual({ to: ENCODER });
    expect(step(items, UP, "ArrowLeft")).toEqual({ to: MLP });
    expect(step(items, X, "ArrowLeft")).toBeUndefined();
  });

  it("toggles expandable items with Enter and Space", () => {
    expect(step(items, ATTENTION, "Enter")).toBe("toggle");
    expect(step(items, MLP, " ")).toBe("toggle");
    expect(step(items, UP, "Enter")).toBeUndefined();
  });

  it("ignores all other keys", () => {
    expect(step(items, MLP, "a")).toBeUndefined();
    expect(step(items, MLP, "Tab")).toBeUndefined();
    expect(step(items, -1, "ArrowDown")).toBeUndefined();
  });
});

it("ranks items among their siblings, separately in each container", () => {
  const levels = [1, 1, 2, 2, 1, 2, 3, 2, 2, 1];
  const found = ranks(levels.map((level) => ({ level, expanded: undefined })));
  expect(found.map(({ at, of }) => `${at}/${of}`)).toEqual([..."1/4 2/4 1/2 2/2 3/4 1/3 1/1 2/3 3/3 4/4".split(" ")]);
});
