/**
 * Entry of `notes.js`, which pages with notes load: shows the notes of a node beside it, while the pointer or the focus is
 * on it, or after a tap. Their content is that of the page's list, so it looks as the page's text does.
 */
import { NoteCard } from "../widget/noting/note_card.js";

const NAME = "model-graph";

void customElements.whenDefined(NAME).then(() => {
  const start = () => {
    for (const host of document.querySelectorAll<HTMLElement>(`${NAME}[notes]`)) if (host.shadowRoot) NoteCard.of(host);
  };
  start();
  // an element without its shadow root is not ready yet, or comes later
  const observer = new MutationObserver(start);
  observer.observe(document, { childList: true, subtree: true });
  for (const host of document.querySelectorAll<HTMLElement>(NAME)) host.addEventListener("pointerenter", start, true);
  document.addEventListener("focusin", start, true);
});
