/** Gives a reader a file. */
export function download(name: string, type: string, content: string): void {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(new Blob([content], { type }));
  anchor.download = name.replace(/[^\w.-]+/g, "_");
  anchor.click();
  // after the browser has read it
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}
