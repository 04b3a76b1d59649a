/** The buttons over the picture, and the menu for what is needed less often. */
import { strings } from "../../shared/strings.js";
import type { Camera } from "../camera.js";
import { hex } from "./css_colour.js";
import { box, iconButton, make } from "./dom.js";
import { colourBehind } from "./page_colour.js";

const ZOOM_STEP = 1.4;
/** Themes have bars of about this height at the window's upper edge, px. */
const BAR = 56;

/** Icons on a 16 × 16 grid, stroked. */
const ICONS = {
  zoomIn: "M8 3v10M3 8h10",
  zoomOut: "M3 8h10",
  fit: "M2 3.5h12v9H2zM5.5 6.5h5v3h-5z",
  fullscreen: "M6 2.5H2.5V6M10 2.5h3.5V6M6 13.5H2.5V10M10 13.5h3.5V10",
  menu: "M2.5 8h1M7.5 8h1M12.5 8h1",
};

export class Toolbar {
  readonly element = box("mg-toolbar");
  /** Keys for the buttons' actions. */
  readonly keys: Record<string, () => boolean> = {};
  /** Told when the menu opens or closes. */
  onMenu: (isOpen: boolean) => void = () => undefined;
  readonly #menu = box("mg-menu");
  readonly #menuButton: HTMLButtonElement;

  /** Zoom buttons, fit, and fullscreen where the browser has it. */
  constructor(host: HTMLElement, camera: Camera) {
    this.element.role = "group";
    this.element.ariaLabel = strings.controls;
    this.#menuButton = iconButton(strings.menu, ICONS.menu, () => this.openMenu(this.#menu.hidden === true));
    this.openMenu(false);
    this.element.append(
      this.#buttonWithKey("-", strings.zoomOut, ICONS.zoomOut, () => camera.zoomBy(1 / ZOOM_STEP)),
      this.#buttonWithKey("+", strings.zoomIn, ICONS.zoomIn, () => camera.zoomBy(ZOOM_STEP)),
      this.#buttonWithKey("0", strings.fit, ICONS.fit, () => camera.showWhole()),
    );
    if (document.fullscreenEnabled) {
      this.element.append(iconButton(strings.fullscreen, ICONS.fullscreen, () => toggleFullscreen(host)));
    }
    this.element.append(this.#menuButton, this.#menu);
  }

  /** Insert a button before the menu's. */
  add(button: HTMLElement): void {
    this.#menuButton.before(button);
  }

  /** Add a row of controls to the menu; the label may be empty where the controls say everything. */
  addToMenu(label: string, ...controls: HTMLElement[]): void {
    const row =
      label === "" ? box("mg-choices", ...controls) : box("mg-row", make("span", "mg-what", label), ...controls);
    if (controls.length > 1 && label !== "") {
      row.role = "group";
      row.ariaLabel = label;
    }
    this.#menu.append(row);
  }

  /** Open or close the menu; whether that changed anything. */
  openMenu(open: boolean): boolean {
    const isChange = (this.#menu.hidden === true) === open;
    this.#menu.hidden = !open;
    this.#menuButton.ariaExpanded = String(open);
    this.onMenu(open);
    if (open && isChange) this.#placeMenu();
    // a notebook's frame grows while the menu opens
    if (open) addEventListener("resize", this.#placeMenu);
    else removeEventListener("resize", this.#placeMenu);
    if (!open && isChange && this.#menu.contains((this.#menu.getRootNode() as ShadowRoot).activeElement)) {
      this.#menuButton.focus();
    }
    return isChange;
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

  /** Above the buttons or, where the window has no room there, below. */
  readonly #placeMenu = (): void => {
    const { classList } = this.element;
    classList.remove("mg-below");
    const { top, height } = this.#menu.getBoundingClientRect();
    const below = innerHeight - this.element.getBoundingClientRect().bottom;
    classList.toggle("mg-below", top < BAR && below > Math.min(height, top + height));
  };
}

/** The background in fullscreen. A property of our own, so that the author's `--mg-page` stays. */
const BACKGROUND = "--mg-behind";

function toggleFullscreen(host: HTMLElement): void {
  if (host.matches(":fullscreen")) {
    void document.exitFullscreen();
    return;
  }
  // in fullscreen the page's own background is not behind the diagram
  host.style.setProperty(BACKGROUND, hex(colourBehind(host)));
  const onChange = () => {
    if (host.matches(":fullscreen")) return;
    host.style.removeProperty(BACKGROUND);
    host.removeEventListener("fullscreenchange", onChange);
  };
  host.addEventListener("fullscreenchange", onChange);
  host.requestFullscreen().catch(onChange);
}
