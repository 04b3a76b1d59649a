/** Entry of `recording.js`: a diagram with what training recorded. */
import { follow } from "../widget/watching/live.js";
import { adoptStyle } from "../widget/watching/style.js";
import { recordingsOf, Watching } from "../widget/watching/watching.js";

globalThis.modelDiagramsRecording = (widget, session) => {
  adoptStyle(widget);
  const watching = new Watching(widget, session);
  const live = widget.host.getAttribute("recording");
  if (live) follow(widget, watching, live);
  else {
    watching.update(recordingsOf(widget.host));
    watching.begin();
  }
};
