/** The height of the stage while the picture is free: it follows a picture that grows or shrinks. */

/** Least height of the stage, px. */
export const SMALLEST_STAGE = 160;
/** Greatest height of the stage, as a share of the window's. */
const WINDOW_SHARE = 0.8;

export class StageHeight {
  readonly #stage: HTMLElement;
  /** The height before the picture was freed, px. */
  #atRest = 0;

  constructor(stage: HTMLElement) {
    this.#stage = stage;
  }

  /** Keep the height of the stage at rest. */
  freeze(): void {
    this.#atRest = this.#stage.getBoundingClientRect().height;
    this.#set(this.#atRest);
  }

  /** Grow or shrink to the end of the picture; a picture larger than the window moves inside it. */
  fit(pictureEnd: number): void {
    this.#stage.style.setProperty("--mg-room", `${this.#room}px`);
    this.#set(Math.max(Math.min(pictureEnd, this.limit), Math.min(this.#atRest, SMALLEST_STAGE)));
  }

  /** Discard the room that `fit` made for pictures at rest. */
  reset(): void {
    this.#stage.style.removeProperty("--mg-room");
  }

  /** Greatest height of the stage, px: the author's limit, if there is one. */
  get limit(): number {
    const limit = Number.parseFloat(getComputedStyle(this.#stage).maxHeight);
    return Number.isNaN(limit) ? this.#room : limit;
  }

  get #room(): number {
    return Math.max(this.#atRest, innerHeight * WINDOW_SHARE);
  }

  #set(pixels: number): void {
    this.#stage.style.setProperty("--mg-stage", `${pixels}px`);
  }
}
