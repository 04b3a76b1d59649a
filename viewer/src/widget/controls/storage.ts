/** What the browser remembers for a reader. Sandboxed pages and private windows may have no storage. */

/** The key of the theme that the reader chose instead of the page's. */
export const THEME_KEY = "model-graph-theme";

export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Remember a text, or forget it. */
export function remember(key: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // it holds for this page
  }
}
