/** A lens on a still picture: boxes in the colours of the lens, and the scale instead of the legend. */
import type { LegendKey } from "../../draw/legend.js";
import { CLASS_HUES } from "../../draw/palette.js";
import type { Layout, Placed } from "../../layout/layout.js";
import { type CostLens, isCosted } from "../../session/costs.js";
import type { Lens, SessionState } from "../../session/diagram_data.js";
import type { Session } from "../../session/session.js";
import { strings } from "../../shared/strings.js";
import type { Item } from "../../view/frame.js";
import { LensScale } from "./scale.js";

/** The mark and text of a box in a lens. */
type Tint = Pick<Item, "family"> & { mark?: string };

interface Seen {
  layout: Layout;
  legend: readonly LegendKey[];
}

/** A layout as a lens shows it. */
export function throughLens(session: Session, state: SessionState, layout: Layout, lens: Lens): Seen {
  const { tintOf, legend } = lens === "class" ? byClass(session, layout) : byCost(session, state, layout, lens);
  return { layout: { ...layout, root: tinted(layout.root, tintOf) }, legend };
}

interface Colours {
  tintOf: (item: Item) => Tint;
  legend: readonly LegendKey[];
}

function byClass(session: Session, layout: Layout): Colours {
  const { entries, stepOf } = session.classScale(idsIn(layout.root));
  const hueAt = (step: number) => CLASS_HUES[step - 1] ?? "other";
  return {
    tintOf: ({ id }) => ({ family: hueAt(stepOf(id)) }),
    legend: entries.map(({ step, text }) => ({ family: hueAt(step), name: text })),
  };
}

function byCost(session: Session, state: SessionState, layout: Layout, lens: CostLens): Colours {
  const index = session.visibleGraph(state);
  const { costs } = session;
  const scale = new LensScale(lens, costs.whole);
  const boxes = session
    .rolled(state)
    .boxes(layout.root.frame)
    .filter(({ item }) => isCosted(item.kind));
  const steps = new Map(boxes.map(({ item, ids }) => [item.id, scale.read(costs.of(ids, index)).step]));
  return {
    tintOf: ({ id, family }) => {
      const step = steps.get(id);
      return step === undefined ? { family } : { family: "other", mark: markOf(step) };
    },
    legend: scale.entries.map(({ step, text }, i) => ({
      family: "other",
      mark: markOf(step),
      name: i === 0 ? `${strings[lens]}: ${text}` : text,
    })),
  };
}

function markOf(step: number): string {
  return `amount-${step}`;
}

/** Ids of closed boxes: open ones have no colour. */
function idsIn({ frame, inner }: Placed): string[] {
  return frame.items.flatMap(({ id }, i) => (inner[i] ? idsIn(inner[i]) : [id]));
}

/** Panels are grey, so that their contents stand out. */
function tinted(placed: Placed, tintOf: Colours["tintOf"]): Placed {
  const items = placed.frame.items.map((item): Item => {
    if (item.frame !== null) return { ...item, family: "other" };
    const { family, mark } = tintOf(item);
    return { ...item, family, marks: mark === undefined ? item.marks : [...item.marks, mark] };
  });
  const inner = placed.inner.map((one) => one && tinted(one, tintOf));
  return { ...placed, frame: { ...placed.frame, items }, inner };
}
