/** Crashes of the layout engine: a new instance retries; what crashes twice is laid out without dot. */
import { instance } from "@viz-js/viz";
import { describe, expect, it } from "vitest";
import { draw } from "../../../src/draw/draw.js";
import type { GraphData, GraphIndex } from "../../../src/graph/graph.js";
import { index } from "../../../src/graph/indexing.js";
import { isBroken, layout, layoutCache, type Viz } from "../../../src/layout/layout.js";
import type { State } from "../../../src/view/state.js";
import { view } from "../../../src/view/view.js";
import { fork, parallel, residual } from "../../fixtures.js";
import { NO_FAULTS, validate } from "../../validate.js";

const working = await instance();
const open: State = { expanded: ["attn", "e.0", "e.1", "e.2"], unrolled: [], direction: "TB" };

/** An engine that crashes. */
function crashing(): Viz {
  const render = () => {
    throw new WebAssembly.RuntimeError("unreachable");
  };
  return { render } as unknown as Viz;
}

/** Retries with a new engine after every crash, as build and widget do; returns the number of engines and the picture. */
function retry(traced: GraphIndex, engine: () => Viz, cache = layoutCache()): { engines: number; svg: string } {
  for (let engines = 1; ; engines += 1) {
    const viz = engine();
    try {
      const made = layout(view(traced, open), viz, cache);
      expect(validate(made)).toMatchObject(NO_FAULTS);
      return { engines, svg: draw(made) };
    } catch (error) {
      if (!isBroken(viz)) throw error;
    }
  }
}

function drawnByDot(graph: GraphData): string {
  return draw(layout(view(index(graph), open), working));
}

describe("layout after a crash", () => {
  it("equals the layout without a crash if a new engine succeeds", () => {
    const engines = [crashing(), working];
    const graph = structuredClone(parallel);
    expect(retry(index(graph), () => engines.shift() ?? working)).toEqual({ engines: 2, svg: drawnByDot(graph) });
    expect(engines).toHaveLength(0);
  });

  it("is the plain layout if every engine crashes, and remembers that in the cache", () => {
    const cache = layoutCache();
    const first = retry(index(fork), () => crashing(), cache);
    expect(first.engines).toBeGreaterThan(1);
    expect(first.svg).toBe(draw(layout(view(index(fork), open), null)));
    expect(retry(index(fork), () => crashing(), cache)).toEqual({ engines: 1, svg: first.svg });
  });

  it("tries dot again with a new cache", () => {
    const first = retry(index(fork), () => crashing());
    expect(retry(index(fork), () => crashing())).toEqual(first);
    expect(retry(index(fork), () => working)).toEqual({ engines: 1, svg: drawnByDot(fork) });
  });

  it("rejects the crashed engine and does not affect other pictures", () => {
    const broken = crashing();
    const before = drawnByDot(residual);
    expect(() => layout(view(index(parallel), open), broken)).toThrow();
    expect(isBroken(broken)).toBe(true);
    expect(() => layout(view(index(parallel), open), broken)).toThrow("crashed");
    expect(drawnByDot(residual)).toBe(before);
  });
});
