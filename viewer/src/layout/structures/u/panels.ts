/** The panels of an encoder and a decoder that are drawn as one U: their space, their insides, and what is around them. */
import { BORDER, type Frame, type Wire } from "../../../view/frame.js";
import { PADDING, titleAt } from "../../coord/enclosure.js";
import { type Box, type Geometry, moved, stretched } from "../../coord/geometry.js";
import { GRID, TITLE_LINE, TITLE_PADDING, titleForms } from "../../coord/metrics.js";
import { AROUND } from "./arms.js";
import { type Joined, NO_CONTAINER, type OwnedPiece } from "./joined.js";
import { BESIDE, free } from "./level_heights.js";
import { isAtSide, LEFT, RIGHT, type Sides } from "./sides.js";

type Line = Geometry["lines"][number];
type Point = Line[number];

interface Extent {
  low: number;
  high: number;
  top: number;
  bottom: number;
}

/** What a panel needs in addition to its content. */
interface Space {
  left: number;
  right: number;
  above: number;
  /** Form of the title, and its distance from the left of the content. */
  form: number;
  start: number;
  /** Whether its outputs leave at the bottom, beside everything else. */
  isFan: boolean;
}

/** An arm of the U as a frame of its own. */
export interface ArmPart {
  part: number;
  frame: Frame;
  members: readonly number[];
  sides: Sides;
}

/** Distance of a panel's content from its side towards the other arm: half of what skips keep free. */
const INWARDS = 8;
/** A title line costs as much as this width. */
const LINE_FOR_WIDTH = 12;

/** The panels of a U; their space is added to one arm after the other. */
export class Panels {
  readonly #spaces: Space[] = [];

  constructor(readonly joined: Joined) {}

  /** An arm with space for its panel; null if something else is in the way. */
  spaced({ part, frame, members, sides }: ArmPart, arm: Geometry): Geometry | null {
    if (this.joined.pair[part] === NO_CONTAINER) return arm;
    const isOwn = (item: number) => item !== BORDER && this.joined.owners[members[item] ?? BORDER] === part;
    const isLevel = (wire: Wire) => isAtSide(sides, wire) && (isOwn(wire.from) || isOwn(wire.to));
    const isOut = (wire: Wire) => part === RIGHT && wire.to === BORDER && isLevel(wire);
    const levels = frame.wires.flatMap((wire, i) => (isLevel(wire) ? (arm.lines[i] ?? []).slice(1, -1) : []));
    const exits = frame.wires.flatMap((wire, i) => (isOut(wire) ? (arm.lines[i] ?? []).slice(1, -1) : []));
    const content = extentOf(arm, frame.wires, isOwn, exits, levels);
    const [above, below] = [content.top - BESIDE, content.bottom + BESIDE];
    const all = [...arm.boxes, ...arm.labels];
    if (free(all, above) === null || free(all, below) === null) return null;
    const entries = arm.lines.filter((_, i) => exits.length === 0 || frame.wires[i]?.to !== BORDER);
    const space = { ...this.#spaceFor(part, content, uprightAt(entries, above)), isFan: exits.length > 0 };
    this.#spaces[part] = space;
    const tall = stretched(stretched(arm, below, PADDING), above, space.above);
    return broadened(tall, Math.max(0, space.left - content.low), Math.max(0, content.high + space.right - arm.width));
  }

  /** The space for a title beside wires at the top; the panel gets wider for it on the outside. */
  #spaceFor(part: number, { low, high }: Extent, entries: number[]): Omit<Space, "isFan"> {
    const [first, last] = [Math.min(high, ...entries), Math.max(low, ...entries)];
    const room = PADDING + (part === LEFT ? first - low : high - last);
    const item = this.joined.around.items[this.joined.pair[part] ?? 0];
    const forms = item === undefined ? [] : titleForms(item, true);
    const missing = forms.map(({ width }) => Math.max(0, width + 2 * TITLE_PADDING - room));
    const cost = forms.map(({ lines }, i) => (missing[i] ?? 0) + LINE_FOR_WIDTH * lines);
    const form = cost.indexOf(Math.min(...cost));
    const outwards = PADDING + (missing[form] ?? 0);
    return {
      ...(part === LEFT ? { left: outwards, right: INWARDS } : { left: INWARDS, right: outwards }),
      above: TITLE_PADDING + (forms[form]?.lines ?? 1) * TITLE_LINE + GRID,
      ...{ form, start: part === LEFT ? -outwards : last - low },
    };
  }

  /** The geometries around both panels and inside each; null if wires don't allow them. */
  apart(whole: Geometry): Geometry[] | null {
    const { around, pair, owners, places, insides, pieces } = this.joined;
    const contents = insides.map((_, owner) => this.#contentOf(owner, whole));
    const panels = contents.map((content, owner) => panelOf(content, this.#spaces[owner]));
    const lines = cutAll(whole.lines, pieces, panels);
    if (lines === null) return null;
    const linesOf = (owner: number, count: number) =>
      Array.from({ length: count }, (_, wire) => lines.get(`${owner} ${wire}`) ?? []);
    const labelsOf = (owner: number) =>
      whole.labels.flatMap((label) => {
        const [first] = pieces[label.wire] ?? [];
        return first?.owner === owner ? [{ ...label, wire: first.wire }] : [];
      });
    const boxAt = (owner: number, place: number): Box =>
      whole.boxes[owners.findIndex((one, i) => one === owner && places[i] === place)] ?? NO_BOX;
    const outside: Geometry = {
      ...whole,
      boxes: around.items.map((_, i) => panels[pair.indexOf(i)] ?? boxAt(AROUND, i)),
      ...{ lines: linesOf(AROUND, around.wires.length), labels: labelsOf(AROUND), rows: [] },
    };
    if (!isClear(outside, pair)) return null;
    return [
      outside,
      ...insides.map((inside, owner) => {
        const boxes = inside.items.map((_, place) => boxAt(owner, place));
        const made = { boxes, labels: labelsOf(owner), lines: linesOf(owner, inside.wires.length) };
        return this.#insideOf(owner, contents[owner] ?? NOTHING, panels[owner] ?? NO_BOX, made);
      }),
    ];
  }

  /** The extent of a panel without its title. */
  #contentOf(owner: number, whole: Geometry): Extent {
    const { frame, owners, arms } = this.joined;
    const isOwn = (item: number) => owners[item] === owner;
    const skips = frame.wires.flatMap(({ from, to }, i) =>
      arms.left.includes(from) && arms.right.includes(to) && isOwn(owner === 0 ? from : to)
        ? [whole.lines[i] ?? []]
        : [],
    );
    const exits = this.#spaces[owner]?.isFan
      ? frame.wires.flatMap(({ from, to }, i) => (isOwn(from) && !isOwn(to) ? (whole.lines[i] ?? []).slice(1, 3) : []))
      : [];
    const [levels, points] =
      owner === 0 ? [skips.map((line) => line.slice(1, 2)), []] : [[], skips.map((line) => line.slice(2, -1))];
    return extentOf(whole, frame.wires, isOwn, [...points.flat(), ...exits], levels.flat());
  }

  #insideOf(owner: number, content: Extent, panel: Box, made: Pick<Geometry, "boxes" | "labels" | "lines">): Geometry {
    const { insides, around, pair } = this.joined;
    const shown = moved(
      made,
      (x) => x - panel.x,
      (y) => y - panel.y,
    );
    const { form = 0, start = 0 } = this.#spaces[owner] ?? {};
    const item = around.items[pair[owner] ?? 0];
    const ports: Geometry["ports"] = { inputs: [], outputs: [] };
    for (const [i, { from, to, fromPort, toPort }] of (insides[owner]?.wires ?? []).entries()) {
      const line = shown.lines[i] ?? [];
      if (from === BORDER) ports.inputs[fromPort] = line[0]?.[0] ?? 0;
      if (to === BORDER) ports.outputs[toPort] = line[line.length - 1]?.[0] ?? 0;
    }
    return {
      ...{ ...shown, width: panel.width, height: panel.height, rows: [], ports, shaped: true },
      title: item === undefined ? null : titleAt(content.low + start - panel.x, titleForms(item, true), form),
    };
  }
}

const NO_BOX: Box = { x: 0, y: 0, width: 0, height: 0 };
const NOTHING: Extent = { low: 0, high: 0, top: 0, bottom: 0 };

/** The extent of some items, their labels, the wires between them and `points`; along the flow also of `levels`. */
function extentOf(
  { boxes, labels, lines }: Geometry,
  wires: readonly Wire[],
  isOwn: (item: number) => boolean,
  points: readonly Point[],
  levels: readonly Point[],
): Extent {
  const own = [...boxes.filter((_, i) => isOwn(i)), ...labels.filter(({ wire }) => isOwn(wires[wire]?.from ?? BORDER))];
  const between = wires.flatMap(({ from, to }, i) => (isOwn(from) && isOwn(to) ? (lines[i] ?? []) : []));
  const all = [...between, ...points];
  const across = [...all.map(([x]) => x), ...own.flatMap(({ x, width }) => [x, x + width])];
  const along = [...[...all, ...levels].map(([, y]) => y), ...own.flatMap(({ y, height }) => [y, y + height])];
  return {
    ...{ low: Math.min(...across), high: Math.max(...across) },
    ...{ top: Math.min(...along), bottom: Math.max(...along) },
  };
}

function panelOf({ low, high, top, bottom }: Extent, space: Space | undefined): Box {
  const { left = 0, right = 0, above = 0 } = space ?? {};
  return { x: low - left, y: top - above, width: left + high - low + right, height: above + bottom - top + PADDING };
}

/** Where lines cross a height. */
function uprightAt(lines: readonly Line[], height: number): number[] {
  return lines.flatMap((line) =>
    line.slice(1).flatMap(([x, y], i) => {
      const [, before = y] = line[i] ?? [];
      return Math.min(y, before) < height && height < Math.max(y, before) ? [x] : [];
    }),
  );
}

function broadened(geometry: Geometry, left: number, right: number): Geometry {
  const toRight = (x: number) => x + left;
  const { inputs, outputs } = geometry.ports;
  const ports = { inputs: inputs.map(toRight), outputs: outputs.map(toRight) };
  return { ...moved(geometry, toRight, (y) => y), width: left + geometry.width + right, ports };
}

/** Lines by owner and wire, cut where they leave a panel; null if the pieces of one wire differ. */
function cutAll(
  lines: readonly Line[],
  pieces: readonly OwnedPiece[][],
  panels: readonly Box[],
): Map<string, Line> | null {
  const found = new Map<string, Line>();
  for (const [i, own] of pieces.entries()) {
    const cut = cutLine(lines[i] ?? [], own, panels);
    if (cut === null) return null;
    for (const [k, { owner, wire }] of own.entries()) {
      const key = `${owner} ${wire}`;
      const [piece = [], known = piece] = [cut[k], found.get(key)];
      if (JSON.stringify(known) !== JSON.stringify(piece)) return null;
      found.set(key, piece);
    }
  }
  return found;
}

function cutLine(line: Line, own: OwnedPiece[], panels: readonly Box[]): Line[] | null {
  const [start, rest] = leaving(line, panels[own[0]?.owner ?? AROUND]);
  const [end, middle] = leaving([...rest].reverse(), panels[own[own.length - 1]?.owner ?? AROUND]);
  const found = [start, [...middle].reverse(), [...end].reverse()].filter(({ length }) => length > 0);
  return found.length === own.length ? found : null;
}

/** A line that starts in a panel, in two pieces; the first is empty if the line doesn't leave the panel. */
function leaving(line: Line, panel: Box | undefined): [Line, Line] {
  const { x, y, width, height } = panel ?? NO_BOX;
  const toBorder = ([px, py]: Point): Point => [
    Math.min(Math.max(px, x), x + width),
    Math.min(Math.max(py, y), y + height),
  ];
  const at = panel === undefined ? 0 : line.findIndex((point) => `${toBorder(point)}` !== `${point}`);
  const border = toBorder(line[at] ?? [0, 0]);
  return at < 1
    ? [[], line]
    : [
        [...line.slice(0, at), border],
        [border, ...line.slice(at)],
      ];
}

/** Whether the panels contain nothing else, and no wire crosses one. */
function isClear({ boxes, labels, lines }: Geometry, pair: readonly number[]): boolean {
  const segments = lines.flatMap((line) =>
    line.slice(1).map(([x, y], i): Box => {
      const [fromX = x, fromY = y] = line[i] ?? [];
      return { x: Math.min(x, fromX), y: Math.min(y, fromY), width: Math.abs(x - fromX), height: Math.abs(y - fromY) };
    }),
  );
  return pair.every((item) => {
    const { x, y, width, height } = boxes[item] ?? NO_BOX;
    const isOutside = (one: Box) =>
      one.x + one.width <= x || x + width <= one.x || one.y + one.height <= y || y + height <= one.y;
    return [...boxes.filter((_, i) => i !== item), ...labels, ...segments].every(isOutside);
  });
}
