/** A crash of the layout engine leaves no traces: a new one does it again, and what breaks two is done without. */
import { instance } from "@viz-js/viz";
import { describe, expect, it } from "vitest";
import { draw } from "../src/draw.js";
import { type Graph, type GraphIndex, index } from "../src/graph.js";
import { isBroken, layout, layoutCache, type Viz } from "../src/layout.js";
import { type State, view } from "../src/view.js";
import { fork, parallel, residual } from "./fixtures.js";
import { NO_FAULTS, validate } from "./validate.js";

const sound = await instance();
const open: State = { expanded: ["attn", "e.0", "e.1", "e.2"], unrolled: [], direction: "TB" };

/** An engine that breaks down. */
function frail(): Viz {
  const render = () => {
    throw new WebAssembly.RuntimeError("unreachable");
  };
  return { render } as unknown as Viz;
}

/** Asked again with a new engine after every crash, as the build and the widget do; how many it took, and the picture. */
function persist(traced: GraphIndex, engine: () => Viz): { engines: number; svg: string } {
  const cache = layoutCache();
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

function wellDrawn(graph: Graph): string {
  return draw(layout(view(index(graph), open), sound));
}

describe("a crash", () => {
  it("that happens once changes nothing", () => {
    const engines = [frail(), sound];
    const graph = structuredClone(parallel);
    expect(persist(index(graph), () => engines.shift() ?? sound)).toEqual({ engines: 2, svg: wellDrawn(graph) });
    expect(engines).toHaveLength(0);
  });

  it("of every engine ends in the plain layout, always the same", () => {
    const first = persist(index(fork), () => frail());
    expect(first.svg).toBe(draw(layout(view(index(fork), open), null)));
    // what is known to break engines is not tried again, nor is what is known to be whole asked for again
    expect(persist(index(fork), () => frail())).toEqual({ engines: 1, svg: first.svg });
    expect(persist(index(fork), () => sound).svg).toBe(first.svg);
  });

  it("leaves other pictures alone", () => {
    const broken = frail();
    const before = wellDrawn(residual);
    expect(() => layout(view(index(parallel), open), broken)).toThrow();
    expect(isBroken(broken)).toBe(true);
    expect(() => layout(view(index(parallel), open), broken)).toThrow("broke down");
    expect(wellDrawn(residual)).toBe(before);
  });
});
