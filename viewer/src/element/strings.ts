/** Everything the widget says, in one table. */
export const strings = {
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  fit: "Show the whole picture",
  fullscreen: "Fullscreen",
  menu: "More controls",
  plumbing: "Show reshapes, casts and constants, too",
  unroll: (times: string) => `Show all ${times}, one by one (R)`,
  roll: (times: string) => `Show the ${times} as one (R)`,
  controls: "Diagram controls",
  loading: "Loading…",
  retry: "Try again",
  stillPicture: "This page does not allow WebAssembly, so the diagram stays a picture.",
  loadFailed: (file: string) => `The diagram can't be opened because ${file} did not load.`,
  drawFailed: "This part of the diagram could not be drawn.",
};
