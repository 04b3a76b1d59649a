/** Which inputs each item of a frame depends on. */
import { BORDER, type Frame } from "../../view/frame.js";

/** Item → the inputs it depends on: ports of the frame are 0, 1, …, and input items come after them. */
export function sourcesOf({ items, wires, inputs }: Frame): ReadonlySet<number>[] {
  const sources = items.map(({ kind }, i) => new Set(kind === "input" ? [inputs.length + i] : []));
  const onwards = wires.filter(({ from, to, flow }) => flow !== "return" && to !== BORDER && from !== to);
  // items are in execution order
  for (const { from, fromPort, to } of onwards.sort((a, b) => a.to - b.to)) {
    const before = from === BORDER ? [fromPort] : (sources[from] ?? []);
    for (const source of before) sources[to]?.add(source);
  }
  return sources;
}

/** Item → the items that read it; returns don't count. */
export function readersOf({ items, wires }: Frame): number[][] {
  const readers: number[][] = items.map(() => []);
  for (const { from, to, flow } of wires) if (flow !== "return" && to !== BORDER) readers[from]?.push(to);
  return readers;
}
