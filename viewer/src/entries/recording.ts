/** Entry of `recording.js`: a diagram with a recorded training. */
import { strings } from "../shared/strings.js";
import { adoptStyle } from "../widget/controls/adopt_style.js";
import { box, button } from "../widget/controls/dom.js";
import { follow } from "../widget/watching/live.js";
import { recordingsOf, Watching } from "../widget/watching/watching.js";
import type { Widget } from "../widget/widget.js";

/** The text of the style sheet, inserted by the build. */
declare const RECORDING_STYLE: string;

globalThis.modelDiagramsRecording = (widget, session) => {
  adoptStyle(widget, RECORDING_STYLE);
  const watching = new Watching(widget, session);
  const live = widget.host.getAttribute("recording");
  if (live) follow(widget, watching, live);
  else {
    watching.update(recordingsOf(widget.host));
    watching.begin();
    offerToHide(widget, watching);
  }
};

/** Unless the recording is live, let the reader hide it. */
function offerToHide({ foot }: Widget, watching: Watching): void {
  const show = box(
    "mg-scale",
    button(strings.showTraining, () => toggle(false)),
  );
  const toggle = (isHidden: boolean) => {
    watching.hide(isHidden);
    if (isHidden) foot.prepend(show);
    else show.remove();
  };
  watching.bar.onHide = () => toggle(true);
}
