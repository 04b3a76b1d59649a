/** The style sheet of pictures on pages and in SVG files that are not flat. The build of the viewer writes it. */

import type { Family } from "../view/labels/op_families.js";
import { AMOUNT, BELOW, CLASS_HUES, ERROR, HUES, hueOf, PAPER, THEMES } from "./palette.js";
import {
  AUTHOR_RULES,
  DIFFERENCE_RULES,
  LENS_RULES,
  type Paint,
  type Rule,
  type Selector,
  SHAPE_RULES,
  type Style,
  TEXT_RULES,
} from "./style.js";

const PX = new Set(["font-size"]);

/**
 * CSS for `.mg-svg`. All colours derive from the page's text colour and a few hues, so that pictures fit any theme and
 * follow live switches. Sites can override the `--mg-*` properties.
 */
export function pictureStylesheet(): string {
  const { light, dark } = THEMES;
  return [
    `.mg-svg { --mg-hue: ${hueValue("other")}; font-family: var(--mg-font, system-ui, sans-serif); color: inherit }`,
    `.mg-svg:root { ${page(light)} }`,
    `@media (prefers-color-scheme: dark) { .mg-svg:root { ${page(dark)} } }`,
    ...TEXT_RULES.map(ruleText),
    ...COLOURED.map((family) => familyRule([family])),
    familyRule(GREY),
    ...SHAPE_RULES.map(ruleText),
  ].join("\n");
}

/** Additional CSS for pictures of differences. */
export function differenceStylesheet(): string {
  return DIFFERENCE_RULES.map(ruleText).join("\n");
}

/** Additional CSS for pictures with an overlay. */
export function authorStylesheet(): string {
  return AUTHOR_RULES.map(ruleText).join("\n");
}

/** Additional CSS for still pictures with a lens. */
export function lensStylesheet(): string {
  return LENS_RULES.map(ruleText).join("\n");
}

/** CSS for pictures and scales coloured by class: a hue for each step. */
export function classStylesheet(): string {
  const rule = (step: string, family: Family) => `[data-by="class"] ${step} { --mg-hue: ${hueValue(family)} }`;
  const steps = CLASS_HUES.map((hue, i) => rule(`[data-step="${i + 1}"]`, hue));
  return `@media screen { ${[rule("[data-step]", "other"), ...steps].join("\n")} }`;
}

const GREY: readonly Family[] = ["elementwise", "shape", "other"];
const COLOURED = (Object.keys(HUES) as Family[]).filter((family) => !GREY.includes(family));

function page({ text, background }: { text: string; background: string }): string {
  return `color: ${text}; background: ${background}`;
}

function familyRule(families: readonly Family[]): string {
  const selectors = families.map((family) => `.mg-svg .mg-family-${family}`);
  return `${selectors.join(", ")} { --mg-hue: ${hueValue(families[0] ?? "other")}; }`;
}

function hueValue(family: Family): string {
  const hue = hueOf(family);
  return `var(--mg-hue-${hue}, ${HUES[hue]})`;
}

function ruleText({ on, style }: Rule): string {
  return `${on.map(selectorText).join(", ")} { ${declarations(style)} }`;
}

function selectorText({ role, of = [], within, standalone }: Selector): string {
  const root = standalone ? ".mg-svg:root" : ".mg-svg";
  const around = within === undefined ? "" : `.mg-${within} `;
  const parents = of.map((name) => `.mg-${name} > `).join("");
  return `${root} ${around}${parents}${role === "text" ? "text" : `.mg-${role}`}`;
}

function declarations(style: Style): string {
  const values = Object.entries(style).map(([name, value]: [string, Paint | string | number]) => {
    const text = typeof value === "object" ? mix(value) : `${value}${PX.has(name) ? "px" : ""}`;
    return `${name}: ${text}`;
  });
  return values.join("; ");
}

function mix({ of, share }: Exclude<Paint, string>): string {
  const property = (name: string, value: string) => `var(--mg-${name}, ${value})`;
  const [error, amount] = [property("error", ERROR), property("amount", AMOUNT)];
  const below = property("below", BELOW);
  const colour = { hue: "var(--mg-hue)", text: "currentColor", error, amount, below, paper: PAPER }[of];
  return share === 100 ? colour : `color-mix(in srgb, ${colour} ${share}%, transparent)`;
}
