/** CSS colours as numbers: the forms that picture.css uses. */

/** Red, green, blue from 0 to 255, and alpha from 0 to 1. */
export type Colour = readonly [number, number, number, number];

export const TRANSPARENT: Colour = [0, 0, 0, 0];
const MIX = /^color-mix\(in srgb,(.*)\)$/;
const SHARE = /\s+([\d.]+)%$/;

/** A colour without variables; `current` stands for `currentColor`. */
export function parseColour(text: string, current: Colour): Colour {
  const value = text.trim();
  if (/^currentcolor$/i.test(value)) return current;
  if (value === "transparent") return TRANSPARENT;
  if (/^#([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/i.test(value)) return parseHex(value.slice(1));
  const mixed = MIX.exec(value)?.[1];
  const [first, second, ...more] = mixed === undefined ? [] : splitList(mixed);
  if (first === undefined || second === undefined || more.length > 0) {
    throw new Error(
      `expected #rrggbb, currentColor, transparent or color-mix(in srgb, …), got ${JSON.stringify(text)}`,
    );
  }
  const shares = [first, second].map((part) => SHARE.exec(part)?.[1]);
  const one = shares[0] === undefined ? 1 - Number(shares[1] ?? 50) / 100 : Number(shares[0]) / 100;
  return mix(parseColour(first.replace(SHARE, ""), current), parseColour(second.replace(SHARE, ""), current), one);
}

function parseHex(digits: string): Colour {
  const long = digits.length > 4 ? digits : [...digits].map((digit) => digit + digit).join("");
  const [red, green, blue, alpha] = [0, 2, 4, 6].map((at) => Number.parseInt(long.slice(at, at + 2) || "ff", 16));
  return [red ?? 0, green ?? 0, blue ?? 0, (alpha ?? 255) / 255];
}

/** As CSS mixes: with what is transparent counting for nothing. */
function mix(a: Colour, b: Colour, share: number): Colour {
  const alpha = a[3] * share + b[3] * (1 - share);
  if (alpha === 0) return TRANSPARENT;
  const channel = (i: 0 | 1 | 2) => (a[i] * a[3] * share + b[i] * b[3] * (1 - share)) / alpha;
  return [channel(0), channel(1), channel(2), alpha];
}

/** `#rrggbb`; the alpha is written as an opacity beside it. */
export function hex(colour: Colour): string {
  const digits = colour.slice(0, 3).map((channel) => Math.round(channel).toString(16).padStart(2, "0"));
  return `#${digits.join("")}`;
}

/** The parts between commas that are in no parentheses. */
export function splitList(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const char of text) {
    if (char === "(") depth += 1;
    if (char === ")") depth -= 1;
    if (char === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim());
}
