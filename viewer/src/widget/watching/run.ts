/** One recording, by node. */
import { decoded, type Recording, type Tensor } from "./data.js";
import { badness, isMeasured, type Measure } from "./measures.js";

/** The worst value of a measure for some nodes at one moment. */
export interface Reading {
  state: "value" | "bad" | "unseen" | "none";
  value?: number;
  /** The node and tensor with the value. */
  tensor?: Tensor;
}

export class TrainingRun {
  readonly recording: Recording;
  readonly #byNode = new Map<string, Tensor[]>();

  constructor(recording: Recording) {
    this.recording = decoded(recording);
    for (const tensor of this.recording.tensors) {
      const known = this.#byNode.get(tensor.node);
      if (known === undefined) this.#byNode.set(tensor.node, [tensor]);
      else known.push(tensor);
    }
  }

  get nodes(): Iterable<string> {
    return this.#byNode.keys();
  }

  tensorsOf(node: string): readonly Tensor[] {
    return this.#byNode.get(node) ?? [];
  }

  /** The moment of a step, or the one before it; -1 before the first and after the end of the run. */
  momentAt(step: number): number {
    const { steps } = this.recording;
    if (step > (steps.at(-1) ?? -1)) return -1;
    let found = steps.length - 1;
    while (found >= 0 && (steps[found] ?? 0) > step) found -= 1;
    return found;
  }

  /** The worst reading of some nodes at a moment. */
  reading(nodes: readonly string[], measure: Measure, moment: number): Reading {
    const tensors = nodes.flatMap((node) => this.tensorsOf(node)).filter(({ seen }) => seen[moment] === "1");
    if (tensors.length === 0) return { state: "unseen" };
    const measured = tensors.filter((tensor) => isMeasured(tensor, measure));
    const broken = measured.find(({ values }) => (values.bad?.[moment] ?? 0) > 0);
    if (broken !== undefined && measure.statistic !== "bad") return { state: "bad", tensor: broken };
    let worst: Reading = { state: "none" };
    for (const tensor of measured) {
      const value = tensor.values[measure.statistic]?.[moment];
      if (value == null) continue;
      if (worst.value === undefined || badness(value, measure) > badness(worst.value, measure))
        worst = { state: "value", value, tensor };
    }
    return worst;
  }
}

const RANKS = { bad: 3, value: 2, unseen: 1, none: 0 } as const;

/** The worst of several readings. */
export function worstOf(readings: readonly Reading[], measure: Measure): Reading {
  const rank = ({ state, value = 0 }: Reading) => [RANKS[state], badness(value, measure)] as const;
  return readings.reduce<Reading>(
    (worst, reading) => {
      const [[a, x], [b, y]] = [rank(reading), rank(worst)];
      return a > b || (a === b && x > y) ? reading : worst;
    },
    { state: "none" },
  );
}
