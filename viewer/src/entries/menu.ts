/** Entry of `menu.js`: links to what is shown. */
import { copyLink, followLink } from "../widget/menu/link.js";

globalThis.modelDiagramsMenu = { copyLink, followLink };
