/** Wires and their labels. */
import type { Box, Geometry, Label } from "../layout/coord/geometry.js";
import type { Frame, Wire } from "../view/frame.js";
import { casesData } from "./badge.js";
import { junctions } from "./junctions.js";
import { PAGE_PAINTER, type Painter } from "./painter.js";
import type { Role, StyleContext } from "./style.js";
import { num } from "./svg_text.js";

const RADIUS = 6;
/** Radius of a junction. */
const DOT = 2.25;
/** An arrowhead's length and half width. */
const ARROW = [6, 3.5] as const;
/** Distance of an arrow's tip from its target. */
const TIP = 1;

const CONTEXT: StyleContext = { family: "other", classes: [] };

/** A path or a dot, drawn when needed. */
export interface WirePart {
  box: Box;
  draw(): string;
}

/** One tensor in a container. */
interface Path {
  wires: Wire[];
  lines: Geometry["lines"][number][];
}

export function drawWires(frame: Frame, geometry: Geometry, painter: Painter = PAGE_PAINTER): string {
  return wireParts(frame, geometry, painter)
    .map((part) => part.draw())
    .join("");
}

/** One path per tensor, so that branches share their start, with an arrowhead at every item and dots where they part. */
export function wireParts(frame: Frame, geometry: Geometry, painter: Painter = PAGE_PAINTER): WirePart[] {
  const paths = new Map<string, Path>();
  frame.wires.forEach((wire, i) => {
    const key = pathKey(wire);
    const path = paths.get(key) ?? { wires: [], lines: [] };
    paths.set(key, path);
    path.wires.push(wire);
    path.lines.push(geometry.lines[i] ?? []);
  });
  return [...paths.values()].flatMap((path) => [
    { box: around(path.lines), draw: () => drawPath(frame, path, painter) },
    ...dots(path, painter),
  ]);
}

/** Equal for wires that are drawn as one path. */
export function pathKey({ from, flow, source, only, cases }: Wire): string {
  return `${from} ${flow} ${source} ${only} ${cases}`;
}

function around(lines: Path["lines"]): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const line of lines) {
    for (const [x, y] of line) {
      left = Math.min(left, x);
      top = Math.min(top, y);
      right = Math.max(right, x);
      bottom = Math.max(bottom, y);
    }
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

function dots({ wires, lines }: Path, painter: Painter): WirePart[] {
  const roles: [Role, ...Role[]] = ["junction", ...sideOf(wires[0])];
  return junctions(lines).map(([x, y]) => {
    const geometry = () => `cx="${num(x)}" cy="${num(y)}" r="${DOT}"`;
    return {
      box: { x: x - DOT, y: y - DOT, width: 2 * DOT, height: 2 * DOT },
      draw: () => painter.shape({ tag: "circle", roles, context: CONTEXT, geometry: geometry() }),
    };
  });
}

/** Whether a wire ends at an item; borders have no arrowheads. */
function arrives(frame: Frame, wire: Wire): boolean {
  return wire.to >= 0 && (frame.items[wire.to]?.frame ?? null) === null;
}

/** The graph that has it, if only one of two has. */
function sideOf(wire: Wire | undefined): Role[] {
  return wire?.only === undefined ? [] : [wire.only === "before" ? "edge-gone" : "edge-new"];
}

function drawPath(frame: Frame, { wires, lines }: Path, painter: Painter): string {
  const [first] = wires;
  if (first === undefined) return "";
  const name = (end: number) => (end < 0 ? frame.id : (frame.items[end]?.id ?? ""));
  const roles: [Role, ...Role[]] = first.flow === "data" ? ["edge"] : ["edge", `flow-${first.flow}`];
  roles.push(...sideOf(first));
  if (first.forced) roles.push("flow-forced");
  if (first.width !== undefined && first.width > 1) roles.push(`width-${first.width}`);
  const data = {
    from: name(first.from),
    to: [...new Set(wires.map((wire) => name(wire.to)))].join(" "),
    tensor: first.tensor,
    ...casesData(first),
  };
  const d = wires.map((wire, i) => linePath(lines[i] ?? [], arrives(frame, wire))).join("");
  return painter.shape({ tag: "path", roles, context: CONTEXT, data, geometry: `d="${d}"` });
}

export function drawLabel(label: Label, { wires }: Frame, painter: Painter = PAGE_PAINTER): string {
  const wire = wires[label.wire];
  if (wire === undefined) return "";
  const isElsewhere = (one: Wire) => one.from === wire.from && one.source === wire.source && one.only !== wire.only;
  return painter.text({
    roles: [
      "label",
      ...(wire.shape === undefined ? [] : [wire.shape]),
      ...(label.before ? (["before"] as const) : []),
      // a dot of a tensor in both graphs belongs to both, even if one of them has other readers
      ...(wire.only && wires.some(isElsewhere) ? [] : sideOf(wire)),
    ],
    context: CONTEXT,
    data: {
      tensor: wire.tensor,
      ...(wire.former !== undefined && { former: wire.former }),
      ...(wire.sizes && { sizes: wire.sizes.join("|") }),
      ...casesData(wire),
    },
    x: label.before ? label.x + label.width : label.x,
    y: label.y + 9,
    text: wire.label,
  });
}

// -- lines ------------------------------------------------------------------------------------------------------------

type Line = readonly (readonly [x: number, y: number])[];

/** Straight segments with rounded corners, and optionally an open arrowhead. */
export function linePath(line: Line, arrow: boolean): string {
  const points = line.filter((point, i) => i === 0 || !same(point, line[i - 1]));
  const [first] = points;
  if (first === undefined) return "";
  let d = `M${pair(first)}`;
  for (let i = 1; i + 1 < points.length; i += 1) d += corner(points[i - 1], points[i], points[i + 1]);
  const last = points[points.length - 1];
  const before = points[points.length - 2];
  if (last === undefined || before === undefined) return d;
  return arrow ? d + arrowEnd(before, last) : `${d}L${pair(last)}`;
}

function same(a: Line[number], b: Line[number] | undefined): boolean {
  return b !== undefined && Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) < 0.05;
}

function corner(
  before: Line[number] | undefined,
  at: Line[number] | undefined,
  after: Line[number] | undefined,
): string {
  if (before === undefined || at === undefined || after === undefined) return "";
  const radius = Math.min(RADIUS, distance(before, at) / 2, distance(at, after) / 2);
  return `L${pair(towards(at, before, radius))}Q${pair(at)} ${pair(towards(at, after, radius))}`;
}

function arrowEnd(before: Line[number], last: Line[number]): string {
  const tip = towards(last, before, TIP);
  const back = towards(last, before, TIP + ARROW[0]);
  const length = distance(before, last) || 1;
  const aside = [((last[1] - before[1]) / length) * ARROW[1], ((before[0] - last[0]) / length) * ARROW[1]] as const;
  const left = [back[0] + aside[0], back[1] + aside[1]] as const;
  const right = [back[0] - aside[0], back[1] - aside[1]] as const;
  return `L${pair(tip)}M${pair(left)}L${pair(tip)}L${pair(right)}`;
}

function distance(a: Line[number], b: Line[number]): number {
  // the last digit of Math.hypot may differ between engines, that of a square root can't
  return Math.sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]));
}

function towards(from: Line[number], to: Line[number], by: number): Line[number] {
  const length = distance(from, to) || 1;
  return [from[0] + ((to[0] - from[0]) * by) / length, from[1] + ((to[1] - from[1]) * by) / length];
}

function pair(point: Line[number]): string {
  return `${num(point[0])} ${num(point[1])}`;
}
