import regular from "@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf?inline";
import semibold from "@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf?inline";
import { describe, expect, it } from "vitest";
import type { StyleContext } from "../../src/draw/style.js";
import { flatPainter, type Typeface, themeColours } from "../../src/flat/flat_painter.js";
import { makeTypeface } from "../../src/flat/typeface.js";
import { textWidth } from "../../src/layout/coord/text_metrics.js";

const bytes = async (address: string) => (await fetch(address)).arrayBuffer();
const inter = makeTypeface(await bytes(regular), await bytes(semibold));

/** Draws every character as a stroke as wide as the font size. */
const strokes: Typeface = {
  has: (text) => !text.includes("∥"),
  set: (text, size) => ({
    width: text.length * size,
    glyphs: [...text].map((char, i) => ({ char, x: i * size, d: char === " " ? "" : "M0 0v1" })),
  }),
};

const colours = { ...themeColours("light"), text: "#000000" };
const painter = (outlines = true) => flatPainter(colours, { typeface: strokes, outlines });
const within = (...classes: string[]): StyleContext => ({ family: "linear", classes });
const { linear } = colours.hues;

describe("a flat shape", () => {
  const box = (context: StyleContext) =>
    painter().shape({ tag: "rect", roles: ["box"], context, geometry: 'width="3"' });

  it("writes shares of its family's hue as opacity", () => {
    expect(box(within("kind-op"))).toBe(
      `<rect width="3" fill="${linear}" fill-opacity="0.38" stroke="${linear}" stroke-opacity="0.75"/>`,
    );
  });

  it("has the style of its surrounding group", () => {
    expect(box(within("kind-module"))).toContain('stroke-width="1.25"');
    expect(box(within("kind-input"))).toContain('<rect width="3" fill-opacity="0.07"');
    expect(box(within("kind-constant"))).toContain('fill="none"');
    expect(box(within("kind-module", "error"))).toContain(`stroke="${colours.error}" stroke-width="2"`);
  });

  it("is left out if invisible", () => {
    const shape = { tag: "path", context: within("node"), geometry: 'd="M0 0h8"' } as const;
    expect(painter().shape({ ...shape, roles: ["strokes"] })).toContain("M0 0h8");
    expect(painter().shape({ ...shape, roles: ["sign"] })).toBe("");
    expect(painter().shape({ ...shape, roles: ["hit"] })).toBe("");
  });
});

describe("a flat group", () => {
  it("keeps position and opacity, and is left out without either", () => {
    const transform = 'transform="translate(1 2)"';
    expect(painter().group({ classes: ["node"], transform }, "x")).toBe(`<g ${transform}>x</g>`);
    expect(painter().group({ classes: ["edges"] }, "x")).toBe('<g opacity="0.55">x</g>');
    expect(painter().group({ classes: ["header"] }, "x")).toBe("x");
    expect(painter().group({ classes: ["edges"] }, "")).toBe("");
  });

  it("says the style of lines that follow each other once", () => {
    const style = 'fill="none" stroke="#000000"';
    const alike = ["M0 0h8", "M1 1h8"];
    const other = `<circle r="2"/><path d="M2 2h8" ${style} stroke-width="2"/>`;
    const lines = alike.map((d) => `<path d="${d}" ${style}/>`).join("");
    const together = alike.map((d) => `<path d="${d}"/>`).join("");
    expect(painter().group({ classes: ["edges"] }, `${lines}${other}`)).toBe(
      `<g opacity="0.55"><g ${style}>${together}</g>${other}</g>`,
    );
  });

  it("has no tooltip", () => {
    expect(painter().tooltip("x")).toBe("");
  });
});

describe("flat text", () => {
  const text = { roles: ["times"], context: within("repeat"), x: 30, y: 5, text: "aa" } as const;

  it("is drawn as outlines relative to its anchor, with each glyph defined once", () => {
    const flat = painter();
    const uses = [19, 30].map((x) => `<use xlink:href="#mg-97-11-600" x="${x}" y="5"/>`).join("");
    expect(flat.text(text)).toBe(uses);
    const size = { width: 9, height: 9 };
    expect(flat.picture(size, size, "x")).toMatch(
      /<defs><path id="mg-97-11-600" d="M0 0v1"\/><\/defs><rect x="0" y="0" width="9" height="9" fill="#ffffff"\/>x/,
    );
  });

  it("has the picture's colour", () => {
    const size = { width: 9, height: 9 };
    const linked = painter().picture(size, size, painter().text(text));
    expect(linked).toMatch(/^<svg [^>]* xmlns:xlink="[^>]* fill="#000000">/);
    expect(painter().picture(size, size, "")).not.toContain("xlink");
  });

  it("continues with the detail in the detail's style", () => {
    const name = { roles: ["name"], context: within("kind-op"), x: 0, y: 5, text: "a", detail: "b" } as const;
    const drawn = painter().text(name);
    expect(drawn).toContain("#mg-97-12-400");
    expect(drawn).toMatch(/<g fill-opacity="0.86"><use xlink:href="#mg-98-11-400"/);
  });

  it("stays text without outlines, or if the font lacks a character", () => {
    const drawn = painter(false).text({ ...text, text: "a & b" });
    expect(drawn).toBe('<text x="30" y="5" text-anchor="middle" font-size="11" font-weight="600">a &amp; b</text>');
    const size = { width: 9, height: 9 };
    expect(painter(false).picture(size, size, drawn)).toMatch(
      /^<svg [^>]* font-family="Inter, [^>]*sans-serif" fill="#000000">/,
    );
    expect(painter(false).picture(size, size, "")).not.toContain("font-family");
    expect(painter().text({ ...text, text: "∥" })).toContain('font-family="sans-serif"');
    expect(flatPainter(colours, { typeface: null, outlines: false }).text({ ...text, text: "∥" })).not.toContain(
      "font-family",
    );
  });
});

describe("our font", () => {
  it("has the special characters of pictures", () => {
    expect(inter.has("→×·–…−⊕⊗αβγΔΩμéßøŁЖя₀²≤∞")).toBe(true);
    expect(inter.has("块")).toBe(false);
  });

  it("is no wider than the layout's text widths", () => {
    const words = ["scaled_dot_product_attention", "Linear 768 → 3072", "Conv2d 64 → 128, 3×3, s2", "MLMHead_KV"];
    for (const [i, text] of [...words, "1×16×768 int64", "layers.0–11", "AAA-CLS-JKL"].entries()) {
      for (const bold of [false, true]) {
        const reserved = textWidth(text, 12, bold);
        const { width, glyphs } = inter.set(text, 12, bold);
        // the last consists of letters wider than in the table: it may use half of the smallest padding
        expect(width, text).toBeLessThanOrEqual(i === 6 ? reserved + 6 : reserved);
        expect(glyphs).toHaveLength([...text].length);
      }
    }
  });
});
