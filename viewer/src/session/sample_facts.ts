/** What flowed through a node's tensors in one pass, as text and pictures for the details. */
import type { Samples, TensorSample } from "../../generated/format.js";
import type { GraphIndex, GraphNode } from "../graph/graph.js";
import { words } from "../shared/explore_strings.js";
import { fill } from "../shared/strings.js";
import type { Detail, Thumbnail } from "./naming.js";
import { writtenNumber } from "./numbers.js";

const PERCENT = { name: "", values: {}, format: ".1%" };
const PLAIN = { name: "", values: {} };

/** The samples of what a node computes; for the whole model, those of what it returns. */
export function sampleFacts(index: GraphIndex, node: GraphNode | undefined, tensors: readonly string[]): Detail[] {
  const { samples, atSizes } = index.graph;
  if (samples == null || atSizes !== undefined) return [];
  const known = tensors.flatMap((tensor) => {
    const sample = samples.tensors[tensor];
    return sample === undefined ? [] : { tensor, sample };
  });
  if (known.length === 0) return [];
  const named = known.map(({ tensor, sample }) => {
    const name =
      known.length > 1 ? (index.graph.tensors.get(tensor)?.name ?? tensor.slice(tensor.lastIndexOf(":") + 1)) : "";
    return name === "" ? sampleText(sample) : fill(words.inEach, name, sampleText(sample));
  });
  const pictures = known.map(({ sample }) => thumbnailOf(sample));
  return [{ label: "flows", lines: [...named, ...remarks(samples, node)], pictures }];
}

function sampleText({ mean, std, min, max, zeros, nan, inf }: TensorSample): string {
  const number = (value: number) => writtenNumber(PLAIN, value);
  return [
    ...(mean == null || std == null ? [] : [fill(words.meanAndSpread, number(mean), number(std))]),
    ...(min == null || max == null ? [] : [fill(words.fromTo, number(min), number(max))]),
    ...(zeros ? [fill(words.zeros, writtenNumber(PERCENT, zeros))] : []),
    ...(nan ? [fill(words.nans, nan)] : []),
    ...(inf ? [fill(words.infinite, inf)] : []),
  ].join(", ");
}

function remarks({ random_inputs: random, without_picture: without }: Samples, node: GraphNode | undefined): string[] {
  return [
    random ? words.randomInputs : words.onePass,
    ...(without && node === undefined ? [fill(words.withoutPicture, without)] : []),
  ];
}

function thumbnailOf({ picture, averaged = 1, darkest = 0, brightest = 0 }: TensorSample): Thumbnail | undefined {
  if (!picture) return undefined;
  const [black, white] = [darkest, brightest].map((value) => writtenNumber(PLAIN, value));
  const scale = fill(words.blackToWhite, black ?? "", white ?? "");
  const text = averaged > 1 ? `${fill(words.meanOfMaps, averaged)}, ${scale}` : scale;
  return { source: `data:image/png;base64,${picture}`, text };
}
