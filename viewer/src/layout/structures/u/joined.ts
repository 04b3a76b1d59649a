/**
 * Two open containers and the items around them as one frame, in which a U can be found: an encoder, and a decoder that
 * reads the features of all its levels. One of the two may consist of items of the frame instead.
 */

import { LEAST_SKIPS } from "../../../view/expand/pairs.js";
import { BORDER, type Frame, type Wire } from "../../../view/frame.js";
import { AROUND, type Arms, armsIn, hasBlocks } from "./arms.js";

/** A frame with the insides of two of its items. */
export interface Joined {
  frame: Frame;
  arms: Arms;
  /** The frame without their insides. */
  around: Frame;
  /** The two items, and their insides. */
  pair: readonly [number, number];
  insides: readonly [Frame, Frame];
  /** Item → its origin, the first or the second inside or `AROUND`, and its position there. */
  owners: number[];
  places: number[];
  /** Wire → its pieces, from source to target. */
  pieces: OwnedPiece[][];
}

export interface OwnedPiece {
  owner: number;
  wire: number;
}

/** A frame with an open encoder and decoder; null without them, or if they don't form a U. */
export function joinedIn(frame: Frame): Joined | null {
  const open = frame.items.flatMap(({ frame: inside, times }, i) =>
    inside?.direction === "TB" && times === 1 ? [i] : [],
  );
  for (const [one, others] of tensorsBetween(frame, new Set(open))) {
    const isEnough = (other: number, count: number) =>
      count >= LEAST_SKIPS + (one === NO_CONTAINER || other === NO_CONTAINER ? 1 : 0);
    const isAfter = (other: number) => one < other || other === NO_CONTAINER;
    const decoders = [...others].filter(([other, { size }]) => isAfter(other) && isEnough(other, size));
    // tensors with many readers, such as rotary tables, are not skips
    for (const [other] of decoders.length > MOST_DECODERS ? [] : decoders) {
      const joined = join(frame, [one, other]);
      if (joined !== null) return joined;
    }
  }
  return null;
}

/** Most containers that read a container which has a decoder. */
const MOST_DECODERS = 4;

/** Stands in for a container if there is none. */
export const NO_CONTAINER = -2;

/** Open container → its readers → the tensors between them; without a container, the items that read or feed it. */
function tensorsBetween({ wires }: Frame, open: ReadonlySet<number>): Map<number, Map<number, Set<string>>> {
  const between = new Map<number, Map<number, Set<string>>>();
  const add = (from: number, to: number, what: string) => {
    const others = between.get(from) ?? new Map<number, Set<string>>();
    between.set(from, others.set(to, (others.get(to) ?? new Set()).add(what)));
  };
  for (const { from, to, source } of wires) {
    if (open.has(from) && open.has(to)) add(from, to, source);
    else if (open.has(from) && to !== BORDER) add(from, NO_CONTAINER, `${to}`);
    else if (open.has(to) && from !== BORDER) add(NO_CONTAINER, to, `${from}`);
  }
  return between;
}

function join(frame: Frame, pair: readonly [number, number]): Joined | null {
  const nothing: Frame = { ...frame, items: [], wires: [] };
  const insides = pair.map((item) => frame.items[item]?.frame ?? nothing) as [Frame, Frame];
  const [owners, places]: [number[], number[]] = [[], []];
  for (const i of frame.items.keys()) {
    const owner = pair.indexOf(i);
    for (const place of owner < 0 ? [i] : (insides[owner]?.items.keys() ?? [])) {
      owners.push(owner);
      places.push(place);
    }
  }
  const items = owners.flatMap((owner, i) => (insides[owner] ?? frame).items[places[i] ?? 0] ?? []);
  if (!hasBlocks(items)) return null;
  const parts = wiresOf(frame, pair, insides);
  if (parts === null) return null;
  const at = (owner: number, place: number) =>
    place === BORDER ? BORDER : owners.findIndex((one, i) => one === owner && places[i] === place);
  const wires = parts
    .map(({ ends: [from, to], pieces, wire }) => ({
      wire: { ...wire, from: at(from, wire.from), to: at(to, wire.to) },
      pieces,
    }))
    .sort((a, b) => a.wire.from - b.wire.from || a.wire.to - b.wire.to);
  const whole: Frame = { ...frame, items, wires: wires.map(({ wire }) => wire) };
  const arms = armsIn(whole, owners);
  return (
    arms && {
      frame: whole,
      arms,
      around: frame,
      pair,
      insides,
      owners,
      places,
      pieces: wires.map(({ pieces }) => pieces),
    }
  );
}

interface Part {
  /** A wire whose ends are positions in the insides that own them. */
  wire: Wire;
  ends: readonly [number, number];
  pieces: OwnedPiece[];
}

/** The wires inside, around and across the borders of both; null if one has no end or passes straight through. */
function wiresOf(frame: Frame, pair: readonly [number, number], insides: readonly [Frame, Frame]): Part[] | null {
  const inner = insides.flatMap(({ wires }, owner) =>
    wires.flatMap((wire, i): Part[] =>
      wire.from === BORDER || wire.to === BORDER ? [] : [{ wire, ends: [owner, owner], pieces: [{ owner, wire: i }] }],
    ),
  );
  const parts = [...inner, ...frame.wires.flatMap((_, wire) => partsAlong(frame, wire, pair, insides))];
  const used = new Set(parts.flatMap(({ pieces }) => pieces.map(({ owner, wire }) => `${owner} ${wire}`)));
  const isWhole = insides.every(({ wires }, owner) =>
    wires.every(({ from, to }, i) => used.has(`${owner} ${i}`) && !(from === BORDER && to === BORDER)),
  );
  return isWhole && parts.every(({ wire }) => wire.flow !== "return") ? parts : null;
}

/** A wire of the outer frame, once for each combination of inner wires that it continues. */
function partsAlong(
  frame: Frame,
  i: number,
  pair: readonly [number, number],
  insides: readonly [Frame, Frame],
): Part[] {
  const wire = frame.wires[i];
  if (wire === undefined) return [];
  const [from, to] = [pair.indexOf(wire.from), pair.indexOf(wire.to)];
  const piecesAt = (owner: number, isEnd: (one: Wire) => boolean): OwnedPiece[][] =>
    owner < 0 ? [[]] : (insides[owner]?.wires ?? []).flatMap((one, k) => (isEnd(one) ? [[{ owner, wire: k }]] : []));
  const starts = piecesAt(from, (one) => one.to === BORDER && one.toPort === wire.fromPort);
  const ends = piecesAt(to, (one) => one.from === BORDER && one.fromPort === wire.toPort);
  return starts.flatMap((start) =>
    ends.map((end) => across(wire, [from, to], [...start, { owner: AROUND, wire: i }, ...end], insides)),
  );
}

/** A wire across borders, which starts like its first piece and ends like its last. */
function across(
  wire: Wire,
  ends: readonly [number, number],
  pieces: OwnedPiece[],
  insides: readonly [Frame, Frame],
): Part {
  const pieceOf = ({ owner, wire: i }: OwnedPiece) => insides[owner]?.wires[i] ?? wire;
  const [first, last] = [pieces[0], pieces[pieces.length - 1]].map((piece) => (piece ? pieceOf(piece) : wire)) as [
    Wire,
    Wire,
  ];
  const { from, fromPort } = first;
  return { wire: { ...last, ...first, from, fromPort, to: last.to, toPort: last.toPort }, ends, pieces };
}
