/** Messages between a page and the worker that runs its layout engine. */
export interface Question {
  number: number;
  /** The arguments of the engine's `render`. */
  words: unknown[];
}

/** The first one has number 0 if the engine has started, or -1 if it can't. */
export interface Answer {
  number: number;
  /** Absent where the engine crashed. */
  result?: unknown;
}
