/**
 * Hides the keys that a diagram uses from the page: many themes have their own keys, `n` for the next page or `/` for the
 * site's search, and don't recognise a text field in a shadow root. Keys that the page took in the capture phase are the
 * page's.
 */

/** Offer keys pressed inside a root to a handler, which returns whether it used them. Text fields get all but Escape. */
export function listenToKeys(root: ShadowRoot, onKeyDown: (event: KeyboardEvent) => boolean): void {
  // who handles the key press also gets the events that follow, wherever the focus is then
  const ours = new Set<string>();
  root.addEventListener("keydown", (event) => {
    const pressed = event as KeyboardEvent;
    const isUsed = !pressed.defaultPrevented && !isShortcut(pressed) && !isTyping(pressed) && onKeyDown(pressed);
    if (isUsed) pressed.preventDefault();
    if (isUsed || (isTyping(pressed) && !isShortcut(pressed))) ours.add(pressed.code);
    else ours.delete(pressed.code);
    if (ours.has(pressed.code)) pressed.stopPropagation();
  });
  for (const type of ["keypress", "keyup"]) {
    root.addEventListener(type, (event) => {
      if (ours.has((event as KeyboardEvent).code)) event.stopPropagation();
    });
  }
}

function isShortcut({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey;
}

function isTyping({ target, key }: KeyboardEvent): boolean {
  return (target as Element).matches("input, select") && key !== "Escape";
}
