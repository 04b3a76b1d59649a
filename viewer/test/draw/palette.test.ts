/**
 * Families are told apart by the fill of their boxes, also by readers who see fewer colours: ΔE after CIEDE2000, and
 * dichromacy simulated as by Machado, Oliveira and Fernandes (2009), both from culori.
 */
import { type Color, differenceCiede2000, filterDeficiencyDeuter, filterDeficiencyProt, rgb } from "culori";
import { describe, expect, it } from "vitest";
import { HUES, type Hue, THEMES } from "../../src/draw/palette.js";
import { styleOf } from "../../src/draw/style.js";

const SIGHTS: readonly (readonly [string, (colour: Color) => Color, number])[] = [
  ["normal", (colour) => colour, 10],
  ["without green cones", filterDeficiencyDeuter(1), 6],
  ["without red cones", filterDeficiencyProt(1), 6],
];

/** The colour of a box on a background. */
function fillOf(hue: Hue, background: string): Color {
  const { fill } = styleOf(["box"], ["node", "kind-module", `family-${hue}`]);
  const share = typeof fill === "object" ? fill.share / 100 : 0;
  const [ink, page] = [rgb(HUES[hue]), rgb(background)];
  if (ink === undefined || page === undefined) throw new Error(`no colour: ${hue}, ${background}`);
  const mixed = (channel: "r" | "g" | "b") => ink[channel] * share + page[channel] * (1 - share);
  return { mode: "rgb", r: mixed("r"), g: mixed("g"), b: mixed("b") };
}

const pairs = (Object.keys(HUES) as Hue[]).flatMap((one, i, all) =>
  all.slice(0, i).map((other) => [one, other] as const),
);

describe.each(Object.entries(THEMES))("families on a %s page", (_, { background }) => {
  it.each(SIGHTS)("differ to readers with sight %s", (_, seen, least) => {
    const difference = differenceCiede2000();
    const close = pairs.flatMap(([one, other]) => {
      const found = difference(seen(fillOf(one, background)), seen(fillOf(other, background)));
      return found < least ? [`${one} and ${other}: ${found.toFixed(1)}`] : [];
    });
    expect(close).toEqual([]);
  });
});
