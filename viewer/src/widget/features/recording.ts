/** What training recorded of a model: another script shows it, once a reader asks, or at once where the data is in the page. */
import type { Session } from "../../session/session.js";
import { strings } from "../../shared/strings.js";
import { box, button } from "../controls/dom.js";
import { loadOwn } from "../loading/loader.js";
import type { Widget } from "../widget.js";

declare global {
  /** Comes with `recording.js`. */
  var modelDiagramsRecording: ((widget: Widget, session: Session) => void) | undefined;
}

export function recording(widget: Widget): void {
  const { host, foot } = widget;
  const live = host.getAttribute("recording");
  if (live === null) return;
  const open = () => {
    offer.remove();
    void widget.tasks.withSession(async (session) => {
      (await loadOwn("recording.js"))(widget, session);
    });
  };
  const offer = box("mg-scale", button(strings.showTraining, open));
  if (live !== "" || !host.hasAttribute("src")) open();
  else foot.prepend(offer);
}
