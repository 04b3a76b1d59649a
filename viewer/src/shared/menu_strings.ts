/** Messages of `menu.js`. */
import { withTranslations } from "./strings.js";

export const words = withTranslations({
  all: "all",
  reset: "Reset to the author’s view",
  plumbing: "Show reshapes, casts and constants",
  direction: "Direction",
  TB: "Down",
  LR: "Right",
  theme: "Theme",
  page: "Same as the page",
  light: "Light",
  dark: "Dark",
  save: "Save as",
  copyLink: "Copy a link to this view",
  linkCopied: "The link was copied.",
  linkShown: "The link is in the address bar.",
  linkGone: "The link refers to {0}, which this model doesn't have; the nearest is {1}.",
  diagramGone: "The link refers to the diagram {0}, which this page doesn't have.",
  copyCommand: "Copy the command that draws this",
  commandCopied: "The command was copied.",
  commandLacks:
    "The command can't express that a module is isolated, that a stack is shown one by one, or that casts or numbers are shown.",
  help: "Keys and gestures (?)",

  // in the help
  pointer: "Mouse and touch",
  keyboard: "Keyboard",
  click: "click, tap",
  clickDoes: "opens or closes a module, shows details of a node",
  stack: "click ×12",
  stackDoes: "shows the blocks of a stack one by one, or as one again",
  drag: "drag, two fingers",
  dragDoes: "moves the picture",
  wheelKeys: "Ctrl (⌘) + wheel, two fingers",
  wheelDoes: "zooms",
  hover: "pointer over an edge",
  hoverDoes: "shows its tensor",
  arrows: "Arrows, Home, End",
  arrowsDo: "move between nodes; right and left also open and close",
  enter: "Enter, I",
  enterDoes: "details; Enter also opens or closes a module",
  space: "Space",
  spaceDoes: "opens or closes a module",
  siblingsDo: "opens this module and its siblings",
  runDoes: "on a stack: shows its blocks one by one, or as one again",
  zoomDoes: "zoom in, zoom out, show the whole picture",
  searchDoes: "search",
  tableDoes: "with a cost lens: opens the table, at the row of the box",
  sizesDo: "numbers instead of names of sizes, and back",
  changesDo: "next and previous change, in a comparison",
  escapeDoes: "one step back",
});

/** The rows of the help, by section. */
export function keys(): Record<string, (readonly [key: string, effect: string])[]> {
  return {
    [words.pointer]: [
      [words.click, words.clickDoes],
      [words.stack, words.stackDoes],
      [words.drag, words.dragDoes],
      [words.wheelKeys, words.wheelDoes],
      [words.hover, words.hoverDoes],
    ],
    [words.keyboard]: [
      [words.arrows, words.arrowsDo],
      [words.enter, words.enterDoes],
      [words.space, words.spaceDoes],
      ["*", words.siblingsDo],
      ["R", words.runDoes],
      ["+ \u2212 0", words.zoomDoes],
      ["/", words.searchDoes],
      ["T", words.tableDoes],
      ["S", words.sizesDo],
      ["N, P", words.changesDo],
      ["Esc", words.escapeDoes],
      ["?", words.help.replace(" (?)", "")],
    ],
  };
}
