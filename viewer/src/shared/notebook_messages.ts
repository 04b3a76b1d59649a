/** The messages between a notebook and the frames of its diagrams. */

/** From the frame: the height of its content, px. */
export interface FrameHeight {
  modelDiagramsHeight: number;
}

/** To the frame: the colours of the notebook there. */
export interface FrameColours {
  modelDiagramsColours: { backgroundColor: string; color: string; colorScheme: "light" | "dark" };
}
