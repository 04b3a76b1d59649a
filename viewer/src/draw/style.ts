/**
 * The appearance of every part of a picture: `stylesheet.ts` turns it into CSS for pages, `flat/flat_painter.ts` into
 * attributes. Paints are shares of a family's hue, the text colour or the error colour, so that pictures fit light and
 * dark pages.
 */
import type { Family } from "../view/labels/op_families.js";
import { BOX_TINT, DETAIL_TEXT } from "./palette.js";

/** The role of a shape or text: its class on pages, without the `mg-`. */
export type Role =
  | "box"
  | "panel"
  | "cards"
  | "pill"
  | "case-bar"
  | "track"
  | "bar"
  | "paper"
  | "strokes"
  | "sign"
  | "hit"
  | "edges"
  | "edge"
  | "edge-gone"
  | "edge-new"
  | "junction"
  | `width-${number}`
  | "flow-shape"
  | "flow-inferred"
  | "flow-return"
  | "flow-forced"
  | "text"
  | "name"
  | "detail"
  | "label"
  | "same-shape"
  | "new-shape"
  | "before"
  | "times"
  | "letters";

/** The context of a shape or text, on which its style depends. */
export interface StyleContext {
  family: Family;
  /** Classes of the surrounding group, without the `mg-`. */
  classes: readonly string[];
}

/** A colour with a share of opacity, in percent. */
interface Mix {
  of: "hue" | "text" | "error" | "paper" | "amount" | "below";
  share: number;
}

export type Paint = Mix | "none" | "transparent";

/** SVG attributes that are also CSS properties; lengths are in px. */
export interface Style {
  fill?: Paint;
  stroke?: Paint;
  "stroke-width"?: number;
  "stroke-dasharray"?: string;
  "stroke-linecap"?: string;
  "stroke-linejoin"?: string;
  "font-size"?: number;
  "font-weight"?: number;
  "text-anchor"?: "start" | "middle" | "end";
  opacity?: number;
}

/** Parts of a picture. */
export interface Selector {
  role: Role;
  /** Only directly inside a group with this class; several classes form a chain of parents. */
  of?: readonly string[];
  /** Only somewhere inside a group with this class. */
  within?: string;
  /** Only in pictures outside pages. */
  standalone?: true;
}

export interface Rule {
  on: readonly Selector[];
  style: Style;
}

const hue = (share: number): Mix => ({ of: "hue", share });
const text = (share: number): Mix => ({ of: "text", share });
const error: Mix = { of: "error", share: 100 };

/** Selects a role everywhere, or only directly inside groups with one of some classes. */
function select(role: Role, ...classes: string[]): Selector[] {
  return classes.length === 0 ? [{ role }] : classes.map((name) => ({ role, of: [name] }));
}

/** Later rules win. Specific rules follow general ones, so that CSS specificity agrees. */
export const TEXT_RULES: readonly Rule[] = [
  { on: select("text"), style: { fill: text(100), "text-anchor": "middle", "font-size": 12 } },
  { on: select("name"), style: { "font-weight": 600 } },
  { on: select("name", "kind-op"), style: { "font-weight": 400 } },
  { on: select("detail"), style: { "font-size": 11, "font-weight": 400, fill: text(DETAIL_TEXT) } },
  { on: select("label"), style: { "font-size": 10, "text-anchor": "start", fill: text(82) } },
  { on: select("same-shape"), style: { fill: text(68) } },
  { on: select("new-shape"), style: { fill: text(100), "font-weight": 600 } },
  { on: select("letters"), style: { "font-size": 10, "font-weight": 600, "text-anchor": "start" } },
  { on: select("before"), style: { "text-anchor": "end" } },
  {
    on: [{ role: "text", within: "legend" }, { role: "text", within: "sizes" }, ...select("text", "header")],
    style: { "text-anchor": "start" },
  },
  {
    on: [{ role: "text", of: ["header", "repeat"] }, ...select("times")],
    style: { "font-size": 11, "font-weight": 600, "text-anchor": "middle" },
  },
];

const NO_HUE = ["kind-parameter", "kind-buffer", "kind-constant", "nothing"];

export const SHAPE_RULES: readonly Rule[] = [
  { on: select("box"), style: { fill: hue(BOX_TINT), stroke: hue(75), "stroke-width": 1 } },
  { on: select("box", "kind-module"), style: { "stroke-width": 1.25 } },
  { on: select("box", "family-elementwise", "family-other"), style: { fill: hue(15) } },
  { on: select("box", "family-shape"), style: { fill: hue(6), stroke: hue(36) } },
  { on: select("box", "kind-input", "kind-output"), style: { fill: text(7), stroke: text(45) } },
  { on: select("box", ...NO_HUE), style: { fill: "none", stroke: text(40), "stroke-dasharray": "3 2" } },
  {
    on: [...select("strokes"), ...select("sign")],
    style: { fill: "none", stroke: text(80), "stroke-width": 1.5, "stroke-linecap": "round" },
  },
  { on: select("pill"), style: { fill: hue(30), stroke: "none" } },
  { on: select("box", "unseen"), style: { "stroke-dasharray": "2 3" } },
  // faint, so that items in nested containers keep their colours
  { on: select("panel"), style: { fill: hue(3), stroke: hue(40), "stroke-width": 1 } },
  { on: select("cards"), style: { fill: "none", stroke: hue(48) } },
  { on: select("hit"), style: { fill: "transparent" } },
  { on: [...select("box", "error"), ...select("panel", "error")], style: { stroke: error, "stroke-width": 2 } },
  // opaque inside a translucent group, so that overlapping wires don't add up
  { on: select("edges"), style: { opacity: 0.55 } },
  {
    on: select("edge"),
    style: {
      fill: "none",
      stroke: text(100),
      "stroke-width": 1.25,
      "stroke-linejoin": "round",
      "stroke-linecap": "round",
    },
  },
  { on: select("junction"), style: { fill: text(100), stroke: "none" } },
  // width by bytes; round ends would overlap at the borders of panels
  ...[1.9, 2.7, 3.6].map(
    (width, i): Rule => ({
      on: select(`width-${i + 2}`),
      style: { "stroke-width": width, "stroke-linecap": "butt" },
    }),
  ),
  { on: select("flow-shape"), style: { "stroke-dasharray": "1 4", opacity: 0.7 } },
  { on: select("flow-inferred"), style: { "stroke-dasharray": "5 4" } },
  { on: select("flow-return"), style: { "stroke-dasharray": "14 4" } },
  { on: select("flow-forced"), style: { "stroke-dasharray": "2 3" } },
  { on: select("case-bar"), style: { fill: hue(100), stroke: "none" } },
  {
    on: [...select("box", "forced"), ...select("panel", "forced")],
    style: { fill: "none", "stroke-dasharray": "4 3" },
  },
  { on: select("pill", "unrolled"), style: { fill: "none", stroke: text(40) } },
  // modules in a file can't be expanded
  { on: [{ role: "sign", standalone: true }], style: { stroke: "none" } },
];

/** For pictures of differences; every colour also has a sign. */
export const DIFFERENCE_RULES: readonly Rule[] = [
  { on: [...select("name", "same"), ...select("detail", "same")], style: { fill: text(68), "font-weight": 400 } },
  { on: select("box", "same"), style: { fill: hue(9), stroke: hue(34) } },
  {
    on: [...select("box", "added"), ...select("panel", "added")],
    style: { stroke: text(90), "stroke-width": 2.5 },
  },
  {
    on: [...select("box", "removed"), ...select("panel", "removed")],
    style: { fill: "none", stroke: text(90), "stroke-width": 2, "stroke-dasharray": "7 3" },
  },
  {
    on: [...select("box", "changed"), ...select("panel", "changed")],
    style: { stroke: text(90), "stroke-width": 2.5, "stroke-dasharray": "14 3 2 3" },
  },
  { on: select("pill", "change"), style: { fill: hue(12), stroke: text(90), "stroke-width": 1.25 } },
  { on: select("edge-gone"), style: { "stroke-dasharray": "7 3" } },
];

/** Colours of boxes by cost in still pictures. */
export const LENS_RULES: readonly Rule[] = [
  ...[0, 8, 18, 28, 38, 49].map((share, step) => amountRule("amount", share, step)),
  ...[2, 4].map((step) => amountRule("below", step * 9.5, step)),
  { on: select("track"), style: { fill: text(14), stroke: "none" } },
  { on: select("bar"), style: { fill: { of: "amount", share: 100 }, stroke: "none" } },
  { on: select("bar", "below-2", "below-4"), style: { fill: { of: "below", share: 100 } } },
];

function amountRule(of: "amount" | "below", share: number, step: number): Rule {
  const part = (percent: number): Mix => ({ of, share: percent });
  return { on: select("box", `${of}-${step}`), style: { fill: part(share), stroke: part(75) } };
}

/** For pictures with an overlay. */
export const AUTHOR_RULES: readonly Rule[] = [
  { on: select("times", "note"), style: { "font-size": 10 } },
  { on: [...select("name", "faded"), ...select("detail", "faded")], style: { fill: text(68), "font-weight": 400 } },
  { on: select("pill", "note"), style: { fill: "none", stroke: text(80), "stroke-width": 1 } },
  {
    on: [...select("box", "highlight"), ...select("panel", "highlight")],
    style: { stroke: text(90), "stroke-width": 2.5 },
  },
  // images assume white paper
  { on: select("paper"), style: { fill: { of: "paper", share: 100 }, stroke: text(40), "stroke-width": 1 } },
  { on: select("strokes", "more"), style: { "stroke-width": 1.25 } },
  { on: select("box", "faded"), style: { fill: hue(5), stroke: hue(28) } },
  { on: select("panel", "faded"), style: { fill: "none", stroke: hue(20) } },
];

/** The style of a part of a standalone picture, by its roles and the classes of the surrounding group. */
export function styleOf(roles: readonly string[], classes: readonly string[]): Style {
  const applies = ({ role, of = [], within }: Selector) =>
    roles.includes(role) && [...of, ...(within === undefined ? [] : [within])].every((name) => classes.includes(name));
  const rules = [...TEXT_RULES, ...SHAPE_RULES, ...DIFFERENCE_RULES, ...AUTHOR_RULES, ...LENS_RULES].filter(({ on }) =>
    on.some(applies),
  );
  return Object.assign({}, ...rules.map(({ style }) => style));
}
