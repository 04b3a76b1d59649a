/**
 * Entry of `notes.js`, which pages with notes or images load: shows the notes of a node beside it, while the pointer or the
 * focus is on it, or after a tap, and its images in a dialog. Their content is that of the page's lists, so it looks as the
 * page's text does.
 */
import { ImageDialog } from "../widget/noting/image_dialog.js";
import { NoteCard } from "../widget/noting/note_card.js";
import type { Widget } from "../widget/widget.js";

const NAME = "model-graph";

declare global {
  /** Diagrams whose notes and images are at hand. */
  var modelDiagramsNoted: WeakSet<HTMLElement> | undefined;
}

type Host = HTMLElement & { widget?: Widget };

void customElements.whenDefined(NAME).then(() => {
  // every diagram of a page brings this script
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
  // an element without its shadow root is not ready yet, or comes later
  const observer = new MutationObserver(start);
  observer.observe(document, { childList: true, subtree: true });
  for (const host of document.querySelectorAll<HTMLElement>(NAME)) host.addEventListener("pointerenter", start, true);
  document.addEventListener("focusin", start, true);
});
