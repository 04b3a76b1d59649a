/** Gives a reader a file. */
export function download(name: string, content: Blob): void {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(content);
  anchor.download = name.replace(/[^\w.-]+/g, "_");
  anchor.click();
  // after the browser has read it
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}
