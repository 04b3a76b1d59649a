import { strings } from "../../shared/strings.js";
import type { Camera } from "../camera/camera.js";
import { colourBehind, hex } from "./css_colour.js";
import { box, iconButton } from "./dom.js";

/** The buttons over the picture, and the menu for rarer commands. */

const ZOOM_STEP = 1.4;

/** Icons on a 16 × 16 grid, stroked. */
const ICONS = {
  zoomIn: "M8 3v10M3 8h10",
  zoomOut: "M3 8h10",
  fit: "M2 3.5h12v9H2zM5.5 6.5h5v3h-5z",
  fullscreen: "M6 2.5H2.5V6M10 2.5h3.5V6M6 13.5H2.5V10M10 13.5h3.5V10",
  menu: "M2.5 8h1M7.5 8h1M12.5 8h1",
};

/** A command of the menu. */
export interface MenuItem {
  text: string;
  run(): void;
  /** Whether it is on, for switches. */
  isOn?(): boolean;
  /** Whether it is one of several alternatives. */
  isChoice?: true;
  /** Whether the menu stays open, to try another. */
  stays?: true;
}

export interface MenuRow {
  label: string;
  items: MenuItem[];
}

export class Toolbar {
  readonly element = box("mg-toolbar");
  /** Keys for the buttons' actions. */
  readonly keys: Record<string, () => boolean> = {};
  /** Opens the menu, which contains these rows and others. */
  readonly menuButton: HTMLButtonElement;
  readonly menuRows: MenuRow[] = [];

  /** Zoom buttons, fit, and fullscreen if the browser has it. */
  constructor(host: HTMLElement, camera: Camera) {
    this.element.role = "group";
    this.element.ariaLabel = strings.controls;
    this.menuButton = iconButton(strings.menu, ICONS.menu, () => undefined);
    this.menuButton.ariaHasPopup = "menu";
    this.menuButton.ariaExpanded = "false";
    this.element.append(
      this.#buttonWithKey("-", strings.zoomOut, ICONS.zoomOut, () => camera.zoomBy(1 / ZOOM_STEP)),
      this.#buttonWithKey("+", strings.zoomIn, ICONS.zoomIn, () => camera.zoomBy(ZOOM_STEP)),
      this.#buttonWithKey("0", strings.fit, ICONS.fit, () => camera.showWhole()),
    );
    if (document.fullscreenEnabled) {
      this.element.append(iconButton(strings.fullscreen, ICONS.fullscreen, () => toggleFullscreen(host)));
    }
    this.element.append(this.menuButton);
  }

  /** Insert a button before that of the menu. */
  add(button: HTMLElement): void {
    this.menuButton.before(button);
  }

  /** Add a row to the menu; the label may be empty if the item says everything. */
  addToMenu(label: string, ...items: MenuItem[]): void {
    this.menuRows.push({ label, items });
  }

  #buttonWithKey(key: string, text: string, icon: string, action: () => void): HTMLButtonElement {
    this.keys[key] = () => {
      action();
      return true;
    };
    const element = iconButton(text, icon, action);
    element.title = `${text} (${key})`;
    element.setAttribute("aria-keyshortcuts", key);
    return element;
  }
}

/** The background in fullscreen, in a separate property, so that the author's `--mg-page` stays. */
const BACKGROUND = "--mg-behind";

/** Leave fullscreen, unless the reader has already left it with the browser's key. */
export function leaveFullscreen(): void {
  document.exitFullscreen().catch(() => undefined);
}

function toggleFullscreen(host: HTMLElement): void {
  if (host.matches(":fullscreen")) {
    leaveFullscreen();
    return;
  }
  // in fullscreen, the page's background isn't behind the diagram
  host.style.setProperty(BACKGROUND, hex(colourBehind(host)));
  const onChange = () => {
    if (host.matches(":fullscreen")) return;
    host.style.removeProperty(BACKGROUND);
    host.removeEventListener("fullscreenchange", onChange);
  };
  host.addEventListener("fullscreenchange", onChange);
  host.requestFullscreen().catch(onChange);
}
