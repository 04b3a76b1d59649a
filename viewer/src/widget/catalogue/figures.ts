/** The figures of models as text. */
import { formatBytes, formatCount, formatFlops } from "../../shared/amounts.js";
import { words } from "../../shared/catalogue_strings.js";
import { fill } from "../../shared/strings.js";
import { type Model, sortKey } from "./catalogue_data.js";

/** Title → figure of one model, or the range of several; without those that are not known. */
export function figuresOf(models: readonly Model[]): [title: string, text: string][] {
  const inputs = new Set(models.map(({ inputs = "" }) => inputs));
  const since = models.flatMap(({ since = "" }) => (since === "" ? [] : [since]));
  since.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
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
        ({ activationsSign }) => activationsSign,
      ),
    ],
    [words.inputsOf, inputs.size === 1 ? [...inputs].join() : ""],
    [words.since, since[0] ?? ""],
  ];
  return figures.filter(([, text]) => text !== "");
}

/** From the smallest to the largest figure, each with the sign of a bound or an estimate. */
function range(
  models: readonly Model[],
  of: (model: Model) => number | undefined,
  format: (amount: number) => string,
  signOf: (model: Model) => string | undefined = () => "",
): string {
  const known = models.flatMap((model) => {
    const amount = of(model);
    return amount === undefined ? [] : [{ amount, text: `${signOf(model) ?? ""} ${format(amount)}`.trimStart() }];
  });
  known.sort((a, b) => a.amount - b.amount);
  const [first, last] = [known[0]?.text ?? "", known.at(-1)?.text ?? ""];
  return first === last ? first : fill(words.range, first, last);
}
