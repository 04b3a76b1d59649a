/** Formats numbers and text for SVG. */

/** One decimal, equal in every JavaScript engine. */
export function num(value: number): string {
  const rounded = Math.round(value * 10) / 10;
  return String(rounded === 0 ? 0 : rounded);
}

/** Concatenates parts. `join` would copy the contents of a container again for every container around it. */
export function together(parts: readonly string[]): string {
  return parts.reduce((all, part) => all + part, "");
}

/** A `transform` attribute with a translation. */
export function translation(x: number, y: number): string {
  return `transform="translate(${num(x)} ${num(y)})"`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** Characters that XML can't contain. */
const INVALID = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
/** Escapes text for attributes and elements. */
export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char).replace(INVALID, "\ufffd");
}
