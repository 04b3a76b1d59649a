/** The figures of models as text. */
import { formatBytes, formatCount, formatFlops } from "../../shared/amounts.js";
import { words } from "../../shared/catalogue_strings.js";
import { fill } from "../../shared/strings.js";
import { type Model, sortKey } from "./catalogue_data.js";

type Part<T> = (model: Model) => T | undefined;

/** Names that are written out. */
const MOST_NAMES = 6;

/** Title → figure of one model, or the range of several; without those that are not known. */
export function figuresOf(models: readonly Model[]): Map<string, string> {
  const inputs = new Set(models.map((model) => model.inputs ?? ""));
  const since = models.flatMap((model) => model.since ?? []).sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  const figures: [string, string][] = [
    [words.parameters, range(models, ({ parameters }) => parameters, formatCount)],
    [
      words.flops,
      range(
        models,
        ({ flops }) => flops,
        formatFlops,
        ({ flopsSign }) => flopsSign,
      ),
    ],
    [
      words.memory,
      range(
        models,
        ({ activations }) => activations,
        formatBytes,
        (model) => model.activationsSign,
      ),
    ],
    [words.inputsOf, inputs.size === 1 ? [...inputs].join() : ""],
    [words.since, since[0] ?? ""],
  ];
  return new Map(figures.filter(([, text]) => text !== ""));
}

/** From the smallest to the largest figure, each with the sign of a bound or an estimate. */
function range(models: readonly Model[], of: Part<number>, format: (n: number) => string, sign?: Part<string>): string {
  const known = models.filter((model) => of(model) !== undefined).sort((a, b) => (of(a) ?? 0) - (of(b) ?? 0));
  const text = (model: Model) => `${sign?.(model) ?? ""} ${format(of(model) ?? 0)}`.trimStart();
  const [first, last] = [known.slice(0, 1), known.slice(-1)].map((end) => end.map(text).join());
  return first === last ? (first ?? "") : fill(words.range, first ?? "", last ?? "");
}

/** Names in a row, the first of many. */
export function someOf(names: readonly string[]): string {
  const rest = names.length - MOST_NAMES;
  return rest > 1 ? `${names.slice(0, MOST_NAMES).join(", ")}, ${fill(words.moreNames, rest)}` : names.join(", ");
}
