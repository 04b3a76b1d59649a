/** Translates the words in the page's own picture; later pictures are drawn in the site's language. */
import { fits, placeInRows } from "../../shared/legend_rows.js";
import { fill, strings } from "../../shared/strings.js";
import type { Widget } from "../widget.js";

/** Average width of a letter, px, for hidden diagrams, which can't be measured. */
const LETTER = 6.2;

export function legend(widget: Widget): void {
  if (globalThis.modelDiagramsStrings === undefined) return;
  const { picture } = widget.tree;
  const texts = [...picture.querySelectorAll<SVGTextContentElement>(".mg-detail")];
  const changed = texts.flatMap((text) => {
    const words = translate(text);
    return words === text.textContent ? [] : [{ text, words, room: lengthOf(text) }];
  });
  for (const { text, words } of changed) text.textContent = words;
  const hasChanged = changed.some(({ text }) => isEntry(text));
  const isPlaced = hasChanged && placeEntries(texts.filter(isEntry), picture.viewBox.baseVal);
  for (const { text, room } of changed) if (!(isPlaced && isEntry(text))) squeeze(text, room);
}

function isEntry(text: Element): boolean {
  return text.closest(".mg-legend") !== null;
}

function translate(text: Element): string {
  const words = text.textContent;
  if (isEntry(text)) return (strings as Partial<Record<string, string>>)[words] ?? words;
  return words
    .replace(/(^| · )same weights$/, (_, separator: string) => separator + strings.sameWeights)
    .replace(/^(\d+) tensors$/, (_, count: string) => fill(strings.tensors, count))
    .replace(/ · tied$/, () => ` · ${strings.tiedToOthers}`);
}

/** Move the entries to where their new texts fit; false if the picture has no room. */
function placeEntries(texts: SVGTextContentElement[], { width, height }: DOMRect): boolean {
  const entries = texts.map((text) => text.parentNode as SVGGElement);
  const top = entries[0]?.transform.baseVal.consolidate()?.matrix.f ?? 0;
  const rows = placeInRows(texts.map(lengthOf), width);
  if (!fits(rows, { width, height: height - top })) return false;
  rows.positions.forEach(({ x, y }, i) => {
    entries[i]?.setAttribute("transform", `translate(${x} ${top + y})`);
  });
  return true;
}

/** Fit a longer word into the space of the English one. */
function squeeze(text: SVGTextContentElement, room: number): void {
  if (lengthOf(text) <= room) return;
  text.setAttribute("textLength", String(room));
  text.setAttribute("lengthAdjust", "spacingAndGlyphs");
}

function lengthOf(text: SVGTextContentElement): number {
  return text.getComputedTextLength() || text.textContent.length * LETTER;
}
