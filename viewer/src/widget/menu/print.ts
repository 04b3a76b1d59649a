/**
 * Prints one picture alone, on a page of its size, which browsers can save as PDF. Without a server, the only other way to a
 * PDF with real text is a library larger than the whole viewer.
 */
import { parseSvg } from "../loading/trusted_types.js";

/** If no dialog has opened after this time, printing is blocked, ms. */
const PATIENCE = 10_000;
/** The largest side of a page in PDF, px. */
const LARGEST = 19_200;

const ALONE = `
.mg-print { display: none }
@media print {
  html, body { margin: 0 !important; padding: 0 !important; height: auto !important; background: none !important }
  body > :not(.mg-print) { display: none !important }
  .mg-print { display: block }
}`;

/** @param title becomes the file's name */
export function printAlone(svg: string, { width, height }: { width: number; height: number }, title: string): void {
  const scale = Math.min(1, LARGEST / Math.max(width, height));
  const [across, down] = [width * scale, height * scale];
  const sheet = new CSSStyleSheet();
  // a little more, as rounding could make a second page
  sheet.replaceSync(`${ALONE} @page { size: ${across}px ${Math.ceil(down) + 1}px; margin: 0 }`);
  const holder = document.createElement("div");
  holder.className = "mg-print";
  // out of reach of the page's styles
  const [picture] = parseSvg(svg);
  picture?.setAttribute("width", String(across));
  picture?.setAttribute("height", String(down));
  picture?.setAttribute("style", "display:block");
  holder.attachShadow({ mode: "open" }).append(...(picture === undefined ? [] : [picture]));
  const before = document.title;
  const restore = () => {
    document.title = before;
    holder.remove();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
  };
  addEventListener("afterprint", restore, { once: true });
  const blocked = setTimeout(restore, PATIENCE);
  addEventListener("beforeprint", () => clearTimeout(blocked), { once: true });
  document.adoptedStyleSheets.push(sheet);
  document.body.append(holder);
  document.title = title;
  print();
}
