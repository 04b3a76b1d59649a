/**
 * Entry of `notes.js`, for pages with notes or images: shows the notes of a node beside it while the pointer or the focus is
 * on it, or after a tap, and its images in a dialog. The content comes from the page's lists, so that it looks like the
 * page's text.
 */
import { ImageDialog } from "../widget/noting/image_dialog.js";
import { NoteCard } from "../widget/noting/note_card.js";
import type { Widget } from "../widget/widget.js";

const NAME = "model-graph";

declare global {
  /** Diagrams with their notes and images connected. */
  var modelDiagramsNoted: WeakSet<HTMLElement> | undefined;
}

type Host = HTMLElement & { widget?: Widget };

void customElements.whenDefined(NAME).then(() => {
  // every diagram of a page contains this script
  globalThis.modelDiagramsNoted ??= new WeakSet();
  const started = globalThis.modelDiagramsNoted;
  const start = () => {
    for (const host of document.querySelectorAll<Host>(`${NAME}[notes]`)) {
      if (host.widget === undefined || started.has(host)) continue;
      started.add(host);
      new NoteCard(host);
      new ImageDialog(host.widget);
    }
  };
  start();
  // an element without a shadow root isn't ready yet, or comes later
  const observer = new MutationObserver(start);
  observer.observe(document, { childList: true, subtree: true });
  for (const host of document.querySelectorAll<HTMLElement>(NAME)) host.addEventListener("pointerenter", start, true);
  document.addEventListener("focusin", start, true);
});
