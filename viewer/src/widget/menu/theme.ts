/** The colours of the page, or light or dark ones, for the picture and its controls. */
import { words } from "../../shared/menu_strings.js";
import type { MenuItem } from "../parts/toolbar.js";
import type { Widget } from "../widget.js";

const THEMES = ["page", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

/** In the style sheet of the menu. */
const ATTRIBUTE = "theme";

export function themes({ stage, foot, host }: Widget): MenuItem[] {
  const parts = [stage, foot];
  const choose = (theme: Theme) => {
    for (const part of parts) part.dataset[ATTRIBUTE] = theme;
    // of what is around the picture in fullscreen
    host.style.setProperty("--mg-around", theme === "page" ? "" : getComputedStyle(stage).backgroundColor);
  };
  return THEMES.map((theme) => ({
    text: words[theme],
    isChoice: true,
    stays: true,
    isOn: () => (stage.dataset[ATTRIBUTE] ?? "page") === theme,
    run: () => choose(theme),
  }));
}
