/** A panel: an expanded module, or a group of repeated children, with its title. */
import type { Box, Title } from "../layout/coord/geometry.js";
import {
  BEHIND_PANEL,
  CHEVRON,
  formerData,
  formerWords,
  NAME_SIZE,
  signsWidth,
  TITLE_LINE,
  titleForms,
} from "../layout/coord/metrics.js";
import { textWidth } from "../layout/coord/text_metrics.js";
import type { Item } from "../view/frame.js";
import { casesData, drawCaseBar, drawSign, drawSigns, drawThumb } from "./badge.js";
import type { Painter } from "./painter.js";
import type { StyleContext } from "./style.js";
import { num, together, translation } from "./svg_text.js";

const CORNER = 8;
const GAP = 8;

export interface Panel {
  item: Item;
  box: Box;
  title: Title | null;
  /** SVG text of the inside. */
  content: string;
}

export function drawPanel({ item, box, title, content }: Panel, painter: Painter): string {
  const classes = ["module", "expanded", `family-${item.family}`, ...item.marks];
  const context: StyleContext = { family: item.family, classes };
  const geometry = `width="${num(box.width)}" height="${num(box.height)}" rx="${CORNER}"`;
  const behind = `d="${cardsBehind(box, BEHIND_PANEL / 2)}${cardsBehind(box, BEHIND_PANEL)}"`;
  const drawn = [
    item.times > 1 ? painter.shape({ tag: "path", roles: ["cards"], context, geometry: behind }) : "",
    painter.shape({ tag: "rect", roles: ["panel"], context, geometry }),
    drawCaseBar(item, CORNER, box.height - 2 * CORNER, painter),
    content,
    title === null ? "" : drawTitle(item, box, title, painter),
  ];
  const expanded = item.kind === "group" ? undefined : true;
  return painter.group(
    { classes, data: { id: item.id, ...casesData(item) }, expanded, transform: translation(box.x, box.y) },
    together(drawn),
  );
}

/** The right and lower edge of a card behind the panel of a folded run. */
function cardsBehind({ width, height }: Box, step: number): string {
  return `M${num(width)} ${step + CORNER}h${step}V${num(height + step)}H${step + CORNER}v${-step}`;
}

function drawTitle(item: Item, box: Box, title: Title, painter: Painter): string {
  const { name = [], detail = [], text: lines = 1 } = titleForms(item, true)[title.form] ?? {};
  const opens = item.kind !== "group";
  const context: StyleContext = { family: item.family, classes: ["header"] };
  const x = title.x + (opens ? CHEVRON : 0);
  const base = (line: number) => title.y + 13 + line * TITLE_LINE;
  const last = name.length - 1;
  const nameEnd = x + textWidth(name[last] ?? "", NAME_SIZE, true) + GAP;
  const pill = signsWidth(item);
  const isBeside = lines < name.length + detail.length;
  const detailX = isBeside ? nameEnd + (pill === 0 ? 0 : pill + GAP) : x;
  const was = formerWords(item);
  const geometry = `width="${num(box.width)}" height="${num(title.y + title.height)}"`;
  const drawn = [
    painter.shape({ tag: "rect", roles: ["hit"], context, geometry }),
    opens ? drawSign({ x: title.x, y: base(0) - 4, open: true, context }, painter) : "",
    ...name.map((text, i) =>
      painter.text({ roles: ["name"], context, data: formerData(item, was.name, i), x, y: base(i), text }),
    ),
    drawSigns(item, nameEnd, base(last) - 12, painter),
    ...detail.map((text, i) => {
      const y = base(isBeside ? i : last + 1 + i);
      return painter.text({ roles: ["detail"], context, data: formerData(item, was.detail, i), x: detailX, y, text });
    }),
    drawThumb(item, x, title.y + lines * TITLE_LINE + GAP / 2, painter),
  ];
  return painter.group({ classes: context.classes }, drawn.join(""));
}
