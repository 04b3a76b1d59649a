/** Entry of `menu.js`: the menu, its dialogs, and links to views. */
import { help } from "../widget/menu/help.js";
import { followLink } from "../widget/menu/link.js";
import { Popup } from "../widget/menu/popup.js";
import { applyTheme } from "../widget/menu/theme.js";

globalThis.modelDiagramsMenu = { makePopup: (widget) => new Popup(widget), help, followLink, applyTheme };
