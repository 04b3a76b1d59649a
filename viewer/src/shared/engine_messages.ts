/** What a page and the worker with its layout engine say to each other. */
export interface Question {
  number: number;
  /** What `render` of the engine is called with. */
  words: unknown[];
}

/** The first one has number 0: the engine has started; or -1: it can't. */
export interface Answer {
  number: number;
  /** Absent where the engine crashed. */
  result?: unknown;
}
