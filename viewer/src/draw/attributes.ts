/**
 * The style of a part as SVG attributes, for places without the style sheet: feeds, e-mail, copied pages. Every rule of
 * the sheet wins over them. They must not set what the sheet leaves alone: `fill-opacity` would fade its colours.
 */
import { memoByKey } from "../shared/memo.js";
import { AMOUNT, BELOW, ERROR, HUES, type Hue, hueOf, PAPER, THEMES } from "./palette.js";
import { type Paint, type Role, type Style, type StyleContext, styleOf } from "./style.js";

/** Text of at least this share has the full colour of text, which is legible on light and dark pages. */
const LEAST_TEXT = 60;

/** What SVG has without attributes. */
const UNSET: Style = { stroke: "none", "stroke-width": 1, "font-weight": 400 };
/** What the parts of a picture inherit. */
const PICTURE: Style = { ...UNSET, ...styleOf(["text"], []) };
/** What wires inherit from their group. */
const WIRES: Style = { ...PICTURE, ...styleOf(["edge"], []) };

/** Attributes of the `<svg>`. */
export const PICTURE_ATTRIBUTES = `font-family="system-ui, sans-serif"${written(PICTURE, UNSET)}`;

/** Attributes of the group of wires in a container. */
export const WIRES_ATTRIBUTES = written({ ...WIRES, ...styleOf(["edges"], []) }, PICTURE);

/** The attributes by which a shape differs from what it inherits. */
export function shapeAttributes(roles: readonly Role[], { family, classes }: StyleContext): string {
  return attributesOf([hueOf(family), roles.join(" "), classes.join(" ")].join("|"));
}

/** The attributes by which a text differs from what it inherits. */
export function textAttributes(roles: readonly Role[], context: StyleContext): string {
  return shapeAttributes(["text", ...roles], context);
}

/** The attributes of small text inside a text with other roles. */
export function detailAttributes(roles: readonly Role[], { classes }: StyleContext): string {
  return written(styleOf(["detail"], classes), styleOf(["text", ...roles], classes));
}

// pictures have many parts, but few different ones
const attributesOf = memoByKey((key: string): string => {
  const [hue = "", roles = "", classes = ""] = key.split("|");
  const style = styleOf(roles.split(" "), classes.split(" "));
  const inherited = /^(edge|junction)\b/.test(roles) ? WIRES : PICTURE;
  return written(style, inherited, hue as Hue);
});

function written(style: Style, inherited: Style, hue: Hue = "other"): string {
  // without a stroke, its width and dashes don't show
  const names = (Object.keys(style) as (keyof Style)[]).filter((name) => {
    return !(isNone(style.stroke ?? inherited.stroke) && name.startsWith("stroke-"));
  });
  const value = (one: Paint | string | number | undefined) =>
    typeof one === "object" ? colour(one, hue) : String(one);
  return names
    .filter((name) => value(style[name]) !== value(inherited[name]))
    .map((name) => ` ${name}="${value(style[name])}"`)
    .join("");
}

function isNone(paint: Paint | undefined): boolean {
  return paint === undefined || paint === "none";
}

/** A colour as `#rrggbb` or, if translucent, `#rrggbbaa`. */
function colour({ of, share }: Exclude<Paint, string>, hue: Hue): string {
  if (of === "text" && share >= LEAST_TEXT) return "currentColor";
  const opaque = { text: THEMES.light.text, hue: HUES[hue], error: ERROR, amount: AMOUNT, below: BELOW, paper: PAPER }[
    of
  ];
  const alpha = Math.round((share / 100) * 255);
  return share === 100 ? opaque : opaque + alpha.toString(16).padStart(2, "0");
}
