import { words } from "../../shared/menu_strings.js";
import { adoptStyle } from "../controls/adopt_style.js";
import { remember, remembered, THEME_KEY } from "../controls/storage.js";
import type { MenuItem } from "../controls/toolbar.js";
import type { Widget } from "../widget.js";

/** The theme of the picture and its controls: the page's, light or dark. */

const THEMES = ["page", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

/** The classes of themes in the style sheet of the menu. */
const ATTRIBUTE = "theme";

export function themes({ stage }: Widget): MenuItem[] {
  return THEMES.map((theme) => ({
    text: words[theme],
    isChoice: true,
    stays: true,
    isOn: () => (stage.dataset[ATTRIBUTE] ?? "page") === theme,
    run: () => choose(theme),
  }));
}

/** Give a diagram the theme that the reader chose on an earlier page. */
export function applyTheme(widget: Widget): void {
  const theme = THEMES.find((known) => known === remembered(THEME_KEY));
  if (theme !== undefined) apply(widget, theme);
}

/** Set the theme of all diagrams of this page and of later pages. */
function choose(theme: Theme): void {
  remember(THEME_KEY, theme === "page" ? null : theme);
  for (const host of document.querySelectorAll<Element & { widget?: Widget }>("model-graph"))
    if (host.widget !== undefined) apply(host.widget, theme);
}

function apply(widget: Widget, theme: Theme): void {
  const { stage, foot, host } = widget;
  withStyle(widget);
  for (const part of [stage, foot]) part.dataset[ATTRIBUTE] = theme;
  // the colour around the picture in fullscreen
  host.style.setProperty("--mg-around", theme === "page" ? "" : getComputedStyle(stage).backgroundColor);
}

/** The text of the style sheet, inserted by the build. */
declare const MENU_STYLE: string;

const styled = new WeakSet<Widget>();

export function withStyle(widget: Widget): void {
  if (!styled.has(widget)) adoptStyle(widget, MENU_STYLE);
  styled.add(widget);
}
