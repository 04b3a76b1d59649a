/** Entry of `recording.js`: a diagram with what training recorded. */
import { adoptStyle } from "../widget/parts/adopt_style.js";
import { follow } from "../widget/watching/live.js";
import { recordingsOf, Watching } from "../widget/watching/watching.js";

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
  }
};
