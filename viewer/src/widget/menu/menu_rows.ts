/** The menu's own rows; features add others. */

import type { SessionState } from "../../session/diagram_data.js";
import type { Session } from "../../session/session.js";
import { words } from "../../shared/menu_strings.js";
import { strings } from "../../shared/strings.js";
import type { MenuItem, MenuRow } from "../controls/toolbar.js";
import type { Widget } from "../widget.js";
import { commands } from "./command.js";
import { help } from "./help.js";
import { copyLink } from "./link.js";
import { savers } from "./save.js";
import { themes } from "./theme.js";

/** Most levels that are offered by number. */
const LEVELS = 4;
/** A picture is large if it is this many times as wide or tall as its visible part. */
const VIEWPORTS = 6;

export function menuRows(widget: Widget): MenuRow[] {
  const reset = () => void widget.change((session) => session.initial).then(() => widget.camera.reset());
  return [
    { label: strings.openLevels, items: levels(widget) },
    { label: words.direction, items: [direction(widget, "TB"), direction(widget, "LR")] },
    ...widget.toolbar.menuRows.filter(({ label }) => label !== ""),
    { label: words.theme, items: themes(widget) },
    { label: words.save, items: savers(widget) },
    single(plumbing(widget)),
    single({ text: words.reset, stays: true, run: reset }),
    ...widget.toolbar.menuRows.filter(({ label }) => label === ""),
    ...links(widget),
    ...commands(widget).map(single),
    single({ text: words.help, run: () => help(widget) }),
  ];
}

function single(item: MenuItem): MenuRow {
  return { label: "", items: [item] };
}

/** The frame of a notebook has no address. */
function links(widget: Widget): MenuRow[] {
  const copy = { text: words.copyLink, run: () => void copyLink(widget) };
  return location.protocol === "about:" ? [] : [single(copy)];
}

function levels(widget: Widget): MenuItem[] {
  const level = (text: string, depth: number): MenuItem => ({
    text,
    stays: true,
    run: () => void widget.change(({ transitions }) => transitions.expandTo(depth)).then(() => fitLarge(widget)),
  });
  const numbered = [...Array(LEVELS).keys()].map((depth) => level(String(depth), depth));
  return [...numbered, level(words.all, Number.POSITIVE_INFINITY)];
}

/** Show a picture as a whole if it is much larger than its visible part. */
function fitLarge({ camera, tree }: Widget): void {
  const { width, height, scale } = camera.viewport;
  const whole = tree.picture.viewBox.baseVal;
  if (scale > 0 && Math.max(whole.width / width, whole.height / height) > VIEWPORTS) camera.showWhole();
}

function direction(widget: Widget, to: SessionState["direction"]): MenuItem {
  return {
    text: words[to],
    isChoice: true,
    stays: true,
    // before the data is loaded, the direction of the first picture is unknown
    isOn: () => widget.session?.state.direction === to,
    run: () => void widget.change(({ state }) => ({ ...state, direction: to })).then(() => widget.camera.fit()),
  };
}

function plumbing(widget: Widget): MenuItem {
  const toggled = ({ state }: Session) => ({ ...state, plumbing: !state.plumbing });
  return {
    text: words.plumbing,
    stays: true,
    isOn: () => widget.session?.state.plumbing === true,
    run: () => void widget.change(toggled),
  };
}
