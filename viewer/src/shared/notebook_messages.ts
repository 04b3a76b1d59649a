/** The messages between a notebook and the frames of its diagrams. */

/** From the frame: how high its content is, px. */
export interface FrameHeight {
  modelDiagramsHeight: number;
}

/** To the frame: how the notebook looks there. */
export interface FrameColours {
  modelDiagramsColours: { backgroundColor: string; color: string; colorScheme: "light" | "dark" };
}
