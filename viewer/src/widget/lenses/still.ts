/** A lens on a still picture: boxes in the colours of the lens, and the scale instead of the legend. */
import type { LegendKey } from "../../draw/legend.js";
import { CLASS_HUES } from "../../draw/palette.js";
import { DETAIL_SIZE, isTwoLines } from "../../layout/coord/metrics.js";
import { textWidth } from "../../layout/coord/text_metrics.js";
import type { Layout, Placed } from "../../layout/layout.js";
import { type BoxLens, showsLens } from "../../session/costs.js";
import type { Lens, SessionState } from "../../session/diagram_data.js";
import { isNumberLens, type NumberLens } from "../../session/numbers.js";
import type { Session } from "../../session/session.js";
import type { Item } from "../../view/frame.js";
import { nameOf, scaleOf } from "./box_scale.js";
import type { CostReading } from "./scale.js";

/** Distance of text from the sides of a box, without and with an expand sign, px. */
const PADDING = 8;
const SIGN = 24;

/** The mark and text of a box in a lens. */
type Tint = Pick<Item, "family" | "bar"> & { mark?: string; amount?: string };

interface Seen {
  layout: Layout;
  legend: readonly LegendKey[];
  /** Sentences below the picture. */
  remarks?: readonly string[];
}

/** A layout as a lens shows it. */
export function throughLens(session: Session, state: SessionState, layout: Layout, lens: Lens | NumberLens): Seen {
  const { tintOf, ...rest } = lens === "class" ? byClass(session, layout) : byCost(session, state, layout, lens);
  return { layout: { ...layout, root: tinted(layout.root, tintOf) }, ...rest };
}

interface Colours extends Omit<Seen, "layout"> {
  tintOf: (item: Item) => Tint;
}

function byClass(session: Session, layout: Layout): Colours {
  const { entries, stepOf } = session.classScale(idsIn(layout.root));
  const hueAt = (step: number) => CLASS_HUES[step - 1] ?? "other";
  return {
    tintOf: ({ id }) => ({ family: hueAt(stepOf(id)) }),
    legend: entries.map(({ step, text }) => ({ family: hueAt(step), name: text })),
  };
}

function byCost(session: Session, state: SessionState, layout: Layout, lens: BoxLens): Colours {
  const index = session.visibleGraph(state);
  const { costs } = session;
  const scale = scaleOf(lens, session.traced, costs.whole);
  const boxes = session
    .rolled(state)
    .boxes(layout.root.frame)
    .map(({ item, ids }) => ({ item, cost: costs.of(ids, index) }))
    .filter(({ item, cost }) => showsLens(item.kind, cost, lens));
  const readings = new Map(boxes.map(({ item, cost }) => [item.id, scale.read(cost)]));
  const barOf = ({ length, start = 0, amount }: CostReading): Partial<Tint> =>
    length === undefined || !isNumberLens(lens) ? {} : { amount, bar: [start, length] };
  return {
    tintOf: ({ id, family }) => {
      const found = readings.get(id);
      if (found?.step === undefined) return { family: found === undefined ? family : "other" };
      return { family: "other", mark: markOf(found.step), ...barOf(found) };
    },
    remarks: isNumberLens(lens) ? scale.hints : [],
    legend: scale.entries.map(({ step, text }, i) => ({
      family: "other",
      mark: markOf(step),
      name: i === 0 ? `${isNumberLens(lens) ? scale.title : nameOf(lens, index)}: ${text}` : text,
    })),
  };
}

function markOf(step: number): string {
  return step < 0 ? `below-${-step}` : `amount-${step}`;
}

/** Ids of closed boxes: open ones have no colour. */
function idsIn({ frame, inner }: Placed): string[] {
  return frame.items.flatMap(({ id }, i) => (inner[i] ? idsIn(inner[i]) : [id]));
}

/** Panels are grey, so that their contents stand out. */
function tinted(placed: Placed, tintOf: Colours["tintOf"]): Placed {
  const items = placed.frame.items.map((item, i): Item => {
    const { mark, amount = "", ...tint } = tintOf(item);
    // the layout is done: there is the room of its own words or, on a line of its own, of the box
    const hasLine = item.frame === null && isTwoLines(item);
    const inBox = (placed.geometry.boxes[i]?.width ?? 0) - 2 * (item.expandable ? SIGN : PADDING);
    const room = Math.max(textWidth(item.detail, DETAIL_SIZE), hasLine ? inBox : 0);
    const fits = amount !== "" && textWidth(amount, DETAIL_SIZE) <= room;
    const detail = fits ? amount : item.detail;
    if (item.frame !== null) return { ...item, family: "other", detail };
    return { ...item, ...tint, detail, marks: mark === undefined ? item.marks : [...item.marks, mark] };
  });
  const inner = placed.inner.map((one) => one && tinted(one, tintOf));
  return { ...placed, frame: { ...placed.frame, items }, inner };
}
