/** The buttons over the picture, and the menu for what is needed less often. */
import type { Camera } from "./camera.js";
import { box, iconButton, make } from "./dom.js";
import { type Colour, hex, over, rgb } from "./rgb.js";
import { strings } from "./strings.js";

const STEP = 1.4;
/** Themes keep bars at the window's upper edge, px. */
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
  /** What the buttons do, for the keyboard. */
  readonly keys: Record<string, () => boolean> = {};
  readonly #menu = box("mg-menu");
  readonly #menuButton: HTMLButtonElement;

  /** Zoom buttons, fit, and fullscreen where the browser has it. */
  constructor(host: HTMLElement, camera: Camera) {
    this.element.role = "group";
    this.element.ariaLabel = strings.controls;
    this.#menuButton = iconButton(strings.menu, ICONS.menu, () => this.openMenu(this.#menu.hidden === true));
    this.openMenu(false);
    const act = (key: string, text: string, icon: string, action: () => void) => {
      this.keys[key] = () => {
        action();
        return true;
      };
      const made = iconButton(text, icon, action);
      made.title = `${text} (${key})`;
      made.setAttribute("aria-keyshortcuts", key);
      return made;
    };
    this.element.append(
      act("-", strings.zoomOut, ICONS.zoomOut, () => camera.zoomBy(1 / STEP)),
      act("+", strings.zoomIn, ICONS.zoomIn, () => camera.zoomBy(STEP)),
      act("0", strings.fit, ICONS.fit, () => camera.showWhole()),
    );
    if (document.fullscreenEnabled) {
      this.element.append(iconButton(strings.fullscreen, ICONS.fullscreen, () => toggleFullscreen(host)));
    }
    this.element.append(this.#menuButton, this.#menu);
  }

  /** Put a button before the menu's. */
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

  /** Open or close the menu; whether that was news. */
  openMenu(open: boolean): boolean {
    const news = (this.#menu.hidden === true) === open;
    this.#menu.hidden = !open;
    this.#menuButton.ariaExpanded = String(open);
    if (open && news) this.#placeMenu();
    if (!open && news && this.#menu.contains((this.#menu.getRootNode() as ShadowRoot).activeElement)) {
      this.#menuButton.focus();
    }
    return news;
  }

  /** Above the buttons or, where the window ends there, below. */
  #placeMenu(): void {
    const { classList } = this.element;
    classList.remove("mg-below");
    const { top, height } = this.#menu.getBoundingClientRect();
    const below = innerHeight - this.element.getBoundingClientRect().bottom;
    classList.toggle("mg-below", top < BAR && below > Math.min(height, top + height));
  }
}

/** Fullscreen's background, which is the page's: ours, not the author's `--mg-page`, and gone with it. */
const BEHIND = "--mg-behind";

function toggleFullscreen(host: HTMLElement): void {
  if (host.matches(":fullscreen")) {
    void document.exitFullscreen();
    return;
  }
  // alone on the screen the diagram has no page behind it any more
  host.style.setProperty(BEHIND, hex(colourBehind(host)));
  const leave = () => {
    if (host.matches(":fullscreen")) return;
    host.style.removeProperty(BEHIND);
    host.removeEventListener("fullscreenchange", leave);
  };
  host.addEventListener("fullscreenchange", leave);
  host.requestFullscreen().catch(leave);
}

/** The colour that is seen through a see-through element on this page. */
export function colourBehind(element: Element): Colour {
  let seen: Colour = [0, 0, 0, 0];
  for (let at: Element | null = element; at !== null && seen[3] < 1; at = parentAcrossShadows(at)) {
    seen = over(seen, rgb(getComputedStyle(at).backgroundColor));
  }
  return over(seen, canvasColour());
}

/** What a page has where it says nothing: white, or nearly black where its colour scheme is dark. */
function canvasColour(): Colour {
  const probe = document.createElement("i");
  probe.style.background = "Canvas";
  document.body.append(probe);
  const colour = rgb(getComputedStyle(probe).backgroundColor);
  probe.remove();
  return colour;
}

function parentAcrossShadows(element: Element): Element | null {
  const root = element.getRootNode();
  return element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
}
