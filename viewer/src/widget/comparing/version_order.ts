/** Which of two versions came first, as far as their names say. */

/** What comes before a release of the same numbers, in this order. */
const STAGES = [/^dev/, /^a/, /^b/, /^(c|rc|pre)/];
const RELEASE = STAGES.length;

const VERSION = /^\D{0,2}(\d+(?:\.\d+)*)(?:[-._]?(dev|alpha|a|beta|b|c|rc|preview|pre)(?![a-z])[-._]?(\d*))?/i;

/** Whether a version came after another. */
export function isLater(one: string, other: string): boolean {
  const [a, b] = [partsOf(one), partsOf(other)];
  if (a === undefined || b === undefined) return false;
  const length = Math.max(a.numbers.length, b.numbers.length);
  for (let i = 0; i < length; i += 1) {
    const difference = (a.numbers[i] ?? 0) - (b.numbers[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return a.stage === b.stage ? a.step > b.step : a.stage > b.stage;
}

interface Parts {
  numbers: number[];
  /** `2.0rc1` is the first candidate for `2.0`. */
  stage: number;
  step: number;
}

function partsOf(name: string): Parts | undefined {
  const [, numbers, stage = "", step = ""] = VERSION.exec(name) ?? [];
  if (numbers === undefined) return undefined;
  const found = STAGES.findIndex((pattern) => pattern.test(stage.toLowerCase()));
  return { numbers: numbers.split(".").map(Number), stage: found < 0 ? RELEASE : found, step: Number(step) };
}
