/** Entry of `core.js`: everything that computes on graphs, for the widget. */
import { isBroken } from "../layout/layout.js";
import { Session } from "../session/session.js";

globalThis.modelDiagramsCore = { open: (data, compared) => new Session(data, compared), isBroken };
