/** The words of the picture that the page shipped, in the site's language; others are drawn with them. */
import { strings } from "./strings.js";
import type { Widget } from "./widget.js";

/** As the build draws the legend, px: a sample of a colour with what is beside it, between two entries, a row's height. */
const SWATCH = 16;
const BETWEEN = 16;
const MARGIN = 8;
const ROW = 20;
/** So wide is a letter, px, where nothing is seen yet that could be measured. */
const LETTER = 6.2;

export function legend(widget: Widget): void {
  if (globalThis.modelDiagramsStrings === undefined) return;
  const { picture } = widget.tree;
  const texts = [...picture.querySelectorAll<SVGTextContentElement>(".mg-detail")];
  const changed = texts.flatMap((text) => {
    const words = translated(text);
    return words === text.textContent ? [] : [{ text, words, room: lengthOf(text) }];
  });
  for (const { text, words } of changed) text.textContent = words;
  const entries = texts.filter(isEntry);
  const isRoom = changed.some(({ text }) => isEntry(text)) && flow(entries, picture.viewBox.baseVal);
  for (const { text, room } of changed) if (!(isRoom && isEntry(text))) squeeze(text, room);
}

function isEntry(text: Element): boolean {
  return text.closest(".mg-legend") !== null;
}

function translated(text: Element): string {
  const words = text.textContent;
  if (isEntry(text)) return (strings as Partial<Record<string, string>>)[words] ?? words;
  return words
    .replace(/(^| · )same weights$/, (_, sign: string) => sign + strings.sameWeights)
    .replace(/ · tied$/, () => ` · ${strings.tiedToOthers}`);
}

/** Put entries one after the other, in rows, if there is room for them. */
function flow(texts: SVGTextContentElement[], { width, height }: DOMRect): boolean {
  const entries = texts.map((text) => text.parentNode as SVGGElement);
  const top = entries[0]?.transform.baseVal.consolidate()?.matrix.f ?? 0;
  let x = MARGIN;
  let y = top;
  const places = texts.map((text) => {
    const size = SWATCH + lengthOf(text);
    if (x > MARGIN && x + size > width - MARGIN) {
      x = MARGIN;
      y += ROW;
    }
    const place = `translate(${x} ${y})`;
    x += size + BETWEEN;
    return { place, isInside: x - BETWEEN <= width && y + ROW <= height };
  });
  if (!places.every(({ isInside }) => isInside)) return false;
  places.forEach(({ place }, i) => {
    entries[i]?.setAttribute("transform", place);
  });
  return true;
}

/** A longer word has as much room as the build gave to the English one. */
function squeeze(text: SVGTextContentElement, room: number): void {
  if (lengthOf(text) <= room) return;
  text.setAttribute("textLength", String(room));
  text.setAttribute("lengthAdjust", "spacingAndGlyphs");
}

function lengthOf(text: SVGTextContentElement): number {
  return text.getComputedTextLength() || text.textContent.length * LETTER;
}
