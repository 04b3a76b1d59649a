/**
 * Parallel streams, as in HRNet: a stage reads the streams of the stage before and a new one, which a module derives from
 * them. The first stream is drawn straight, the new one to its right, and each keeps its place from stage to stage.
 */
import { BORDER, type Frame, type Wire } from "../../view/frame.js";
import type { Ranking } from "../layering/dot.js";
import type { Plan, Stream } from "../plan.js";

/** A stage, a module that derives a stream, and the next stage. */
const LEAST_ITEMS = 3;

/** The first streams of all stages of a frame. */
export function streamsOf({ items, wires }: Frame): Stream[] {
  if (items.length < LEAST_ITEMS) return [];
  const onwards = wires.filter(({ flow }) => flow !== "return");
  const [arriving, leaving] = [items.map(() => [] as number[]), items.map(() => [] as number[])];
  for (const [i, { from, to }] of onwards.entries()) {
    arriving[to]?.push(i);
    leaving[from]?.push(i);
  }
  const isModule = (item: number) => items[item]?.kind === "module";
  const ends = (some: readonly number[] = [], end: (wire: Wire) => number) =>
    new Set(some.flatMap((i) => onwards[i] ?? []).map(end));
  return items.flatMap(({ family }, stage) => {
    const [first = -1, ...others] = arriving[stage] ?? [];
    const { from: before = BORDER, label } = onwards[first] ?? {};
    const isNew = (item: number) =>
      isModule(item) &&
      items[item]?.family === family &&
      [...ends(arriving[item], ({ from }) => from)].join() === `${before}` &&
      [...ends(leaving[item], ({ to }) => to)].join() === `${stage}`;
    const last = onwards[others[others.length - 1] ?? -1];
    if (before === BORDER || last === undefined || !isModule(stage) || !isModule(before)) return [];
    const isStage = items[before]?.family === family && last.label !== label && isNew(last.from);
    return isStage ? [{ wire: first, beside: last.from }] : [];
  });
}

/** Draws the first streams straight. */
export function openStreams({ wires, streams }: Plan): void {
  for (const { wire, beside } of streams) {
    const first = wires[wire];
    const around = wires.filter(({ from, to }) => from === beside || to === beside);
    if (first === undefined) continue;
    first.rail = false;
    first.trunk = around.some(({ trunk }) => trunk);
    first.spine = true;
    for (const one of around) Object.assign(one, { trunk: false, spine: one.from === beside });
  }
}

/** Number of new streams to the left of the first ones, minus those to the right. */
export function leftOfStreams({ wires, streams }: Plan, { across }: Ranking): number {
  return streams.reduce((sum, { wire, beside }) => {
    const at = across[wires[wire]?.from ?? BORDER] ?? 0;
    return sum - Math.sign((across[beside] ?? 0) - at);
  }, 0);
}

/** Output port of a stage → the input port of the same stream, by its shape; empty without parallel streams. */
export function placesOf({ items, wires, inputs, outputs }: Frame): number[] {
  if (outputs.length < 2) return [];
  const into = wires.filter(({ from }) => from === BORDER);
  const out = wires.filter(({ to }) => to === BORDER);
  const fusion = items.length - 1;
  const streams = new Map(into.map(({ label, fromPort }) => [label, fromPort]));
  const readers = new Set(into.map(({ to, toPort }) => `${to} ${toPort}`));
  const isStage =
    into.length === inputs.length &&
    streams.size === inputs.length &&
    readers.size === inputs.length &&
    into.every(({ to }) => to < fusion) &&
    out.length === outputs.length &&
    out.every(({ from, label, flow }) => from === fusion && flow !== "return" && streams.has(label));
  const places: number[] = [];
  if (isStage) for (const { toPort, label } of out) places[toPort] = streams.get(label) ?? BORDER;
  return new Set(places).size === places.length ? places : [];
}

/** Puts streams back into their places where they leave a fusion. */
export function keepPlaces({ places }: Plan, ranking: Ranking): Ranking {
  const outputs = places.map((stream) => ranking.inputs[stream] ?? 0);
  return places.length === 0 ? ranking : { ...ranking, outputs };
}
