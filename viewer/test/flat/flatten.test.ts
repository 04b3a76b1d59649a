import regular from "@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf?inline";
import semibold from "@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf?inline";
import { describe, expect, it } from "vitest";
import { type Colour, hex, parseColour } from "../../src/flat/colour.js";
import { declarations, parseSheet } from "../../src/flat/css.js";
import { flatten, type Typeface } from "../../src/flat/flatten.js";
import { makeTypeface } from "../../src/flat/typeface.js";
import { parseXml } from "../../src/flat/xml.js";
import sheet from "../../src/picture.css?raw";
import { textWidth } from "../../src/text.js";

const bytes = async (address: string) => (await fetch(address)).arrayBuffer();
const inter = makeTypeface(await bytes(regular), await bytes(semibold));

/** Every character is a stroke, one px wide for each px of its size. */
const strokes: Typeface = {
  has: (text) => !text.includes("∥"),
  set: (text, size) => ({
    width: text.length * size,
    glyphs: [...text].map((char, i) => ({ char, x: i * size, d: char === " " ? "" : "M0 0v1" })),
  }),
};

function flat(inside: string, css: string, outlines = true): string {
  const svg = `<svg class="mg-svg" viewBox="0 0 9 9" width="9" height="9">${inside}</svg>`;
  const made = flatten(svg, `:root { color: #000; background: #fff } ${css}`, "light", strokes, outlines);
  return made.replace(/^.*?height="9" fill="#ffffff"\/>|<\/svg>$/g, "");
}

describe("style", () => {
  it("understands every rule of the picture's sheet", () => {
    for (const theme of ["light", "dark"] as const) {
      const svg = `<svg class="mg-svg" viewBox="0 0 1 1" width="1" height="1"><g class="mg-edges"/></svg>`;
      expect(flatten(svg, sheet, theme, strokes, true)).toContain(
        `fill="${theme === "light" ? "#ffffff" : "#15171a"}"`,
      );
      expect(parseSheet(sheet, theme).length).toBeGreaterThan(30);
    }
  });

  it("shows nothing that opens or closes where nothing does", () => {
    const svg = `<svg class="mg-svg" viewBox="0 0 1 1" width="1" height="1"><g class="mg-node"><path class="mg-sign" d="M0 0h8"/><path class="mg-strokes" d="M1 1h8"/></g></svg>`;
    const drawn = flatten(svg, sheet, "light", strokes, true);
    expect(drawn).toContain("M1 1h8");
    expect(drawn).not.toContain("M0 0h8");
  });

  it("lets the heavier selector win, and of equal ones the later", () => {
    const rules = parseSheet(".a .b { fill: x; stroke: x } .b { fill: y } .a > .b { stroke: z }", "light");
    const root = parseXml('<g class="a"><g class="b"/></g>');
    const [child] = root.children;
    if (child === undefined || typeof child === "string") throw new Error("no child");
    expect(Object.fromEntries(declarations(rules, [root, child]))).toEqual({ fill: "x", stroke: "z" });
  });

  it("takes rules of its own theme, and none for what a reader does", () => {
    const css =
      "@media (prefers-color-scheme: dark) { g { fill: a } } @media print { g { fill: b } } g:hover { fill: c }";
    const root = parseXml("<g/>");
    expect(declarations(parseSheet(css, "light"), [root]).size).toBe(0);
    expect(declarations(parseSheet(css, "dark"), [root]).get("fill")).toBe("a");
  });

  it.each([
    ["g:first-child { fill: #000 }", "expected :root or what a reader does in the picture's style, got :first-child"],
    ["g + g { fill: #000 }", "expected tags, classes, attributes and :root in a selector, got +"],
    ["@font-face { src: x }", "expected a rule or @media in the picture's style, got @font-face"],
    ["rect { letter-spacing: 2px }", "got letter-spacing"],
    ["rect { fill: hsl(1 2 3) }", 'got "hsl(1 2 3)"'],
    ["rect { fill: var(--nothing) }", "expected a value or a default for --nothing"],
  ])("refuses what it does not understand: %s", (css, message) => {
    expect(() => flat("<rect/>", css)).toThrow(message);
  });
});

describe("colours", () => {
  const black: Colour = [0, 0, 0, 1];
  it.each([
    ["#1f2", "#11ff22", 1],
    ["#11223380", "#112233", 0.5],
    ["currentColor", "#000000", 1],
    ["color-mix(in srgb, #ff0000 14%, transparent)", "#ff0000", 0.14],
    ["color-mix(in srgb, #ff0000, #0000ff 25%)", "#bf0040", 1],
    ["color-mix(in srgb, color-mix(in srgb, #fff 50%, transparent) 50%, currentColor)", "#555555", 0.75],
  ])("%s", (text, colour, alpha) => {
    const parsed = parseColour(text, black);
    expect(hex(parsed)).toBe(colour);
    expect(parsed[3]).toBeCloseTo(alpha, 2);
  });
});

describe("flat pictures", () => {
  it("resolve variables where they are set, with their defaults", () => {
    const css = ".a { --hue: var(--other, #123456) } rect { fill: color-mix(in srgb, var(--hue) 50%, transparent) }";
    expect(flat('<g class="a"><rect width="3"/></g>', css)).toBe('<rect width="3" fill="#123456" fill-opacity="0.5"/>');
  });

  it("keep places and opacity, and drop what is not seen", () => {
    const css = ".faint { opacity: 0.5 } rect { fill: transparent; stroke-width: 2px } .line { stroke: #00f }";
    const inside =
      '<g class="faint" transform="translate(1 2)"><rect class="hit"/><rect class="line"/><title>x</title></g>';
    expect(flat(inside, css)).toBe(
      '<g transform="translate(1 2)" opacity="0.5"><rect fill="none" stroke="#0000ff" stroke-width="2"/></g>',
    );
  });

  it("draw text as outlines, each kept once, from where its anchor says", () => {
    const css = "text { font-size: 2px; text-anchor: middle } tspan { fill: #f00 }";
    const drawn = flat('<text x="10" y="5">aa<tspan>a</tspan></text>', css);
    const uses = [7, 9].map((x) => `<use xlink:href="#mg-97-2-400" x="${x}" y="5"/>`).join("");
    expect(drawn).toBe(
      `<g fill="#000000">${uses}</g><g fill="#ff0000"><use xlink:href="#mg-97-2-400" x="11" y="5"/></g>`,
    );
  });

  it("keep text as text where it is wanted, or where the font lacks a character", () => {
    const css = "text { font-size: 12px; font-weight: 600; text-anchor: end }";
    const span = '<tspan font-size="12" font-weight="600" fill="#000000">a &amp; b</tspan>';
    expect(flat('<text x="1" y="2">a &amp; b</text>', css, false)).toMatch(
      new RegExp(`<text x="1" y="2" font-family="Inter, .*" text-anchor="end">${span}</text>`),
    );
    expect(flat("<text>∥</text>", css)).toContain('font-family="sans-serif"');
  });
});

describe("our font", () => {
  it("has the signs that pictures use", () => {
    expect(inter.has("→×·–…−⊕⊗αβγΔΩμéßøŁЖя₀²≤∞")).toBe(true);
    expect(inter.has("块")).toBe(false);
  });

  it("stays inside what the layout reserves", () => {
    const words = ["scaled_dot_product_attention", "Linear 768 → 3072", "Conv2d 64 → 128, 3×3, s2", "MLMHead_KV"];
    for (const [i, text] of [...words, "1×16×768 int64", "layers.0–11", "AAA-CLS-JKL"].entries()) {
      for (const bold of [false, true]) {
        const reserved = textWidth(text, 12, bold);
        const { width, glyphs } = inter.set(text, 12, bold);
        // the last is all letters that are wider here: it may use half of the least padding
        expect(width, text).toBeLessThanOrEqual(i === 6 ? reserved + 6 : reserved);
        expect(glyphs).toHaveLength([...text].length);
      }
    }
  });
});
