/** Makes text from a model fit to be shown: names may contain anything. */

/** Control characters, half characters, and marks that reverse the text around them. */
const UNREADABLE = /(?![\t\n\r])[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu;

/** The text with replacement signs for characters that can't be shown. */
export function readable(text: string): string {
  return text.replace(UNREADABLE, "\ufffd");
}
