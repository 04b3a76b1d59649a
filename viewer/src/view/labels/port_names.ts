/** Names parallel wires: `cos` and `sin`, `h` and `c`. */
import { append } from "../../graph/append.js";
import type { GraphIndex } from "../../graph/graph.js";
import { singleChain } from "../boxes.js";
import { BORDER, type Frame, type Item, type Wire } from "../frame.js";

/** Longest name that is shown. Longer ones, such as `last_hidden_state`, would push the shape away. */
const LONGEST = 14;

/** Names that say nothing. */
const SILENT: ReadonlySet<string> = new Set(["output", "outputs", "x"]);

/** Puts names before the shapes of wires where a module returns, or a function reads, several named tensors. */
export function nameParallels(index: GraphIndex, frame: Frame): void {
  if (!mayHaveNames(frame)) return;
  const leaving = new Map<number, Wire[]>();
  for (const wire of frame.wires) if (wire.flow === "data") append(leaving, wire.from, wire);
  const behind = [...leaving].flatMap(([from, wires]) => namesBehind(index, frame.items[from], wires));
  const named = new Map([...namesInto(index, frame, leaving), ...namesInside(index, frame), ...behind]);
  if (named.size === 0) return;
  for (const wire of frame.wires) {
    const name = named.get(keyOf(wire));
    if (name !== undefined && wire.flow === "data") wire.label = `${name} ${wire.label}`.trim();
  }
}

/** Whether anything reads or returns several tensors: in most containers nothing does. */
function mayHaveNames({ items, wires, outputs }: Frame): boolean {
  if (outputs.length > 1 || items.some(({ kind }) => kind === "function")) return true;
  const sources: string[] = [];
  return wires.some(({ from, source }) => {
    if (from !== BORDER && sources[from] === undefined) sources[from] = source;
    return from !== BORDER && sources[from] !== source;
  });
}

/** Equal for wires of one tensor, which share a label. */
function keyOf({ from, source }: Wire): string {
  return `${from} ${source}`;
}

type Named = [key: string, name: string][];

/** Names after a module that returns several tensors. */
function namesBehind(index: GraphIndex, item: Item | undefined, leaving: Wire[]): Named {
  if (item?.kind !== "module" || leaving.every(({ source }) => source === leaving[0]?.source)) return [];
  const names = outputNames(index, item.id);
  return severalOf(leaving.map((wire) => [keyOf(wire), names.get(wire.source)]));
}

/** No names if there is only one. */
function severalOf(named: [key: string, name: string | undefined][]): Named {
  const known = named.flatMap(([key, name]): Named => (name === undefined ? [] : [[key, name]]));
  return new Set(known.map(([, name]) => name)).size < 2 ? [] : known;
}

/** Names on the outputs inside an open module. */
function namesInside(index: GraphIndex, frame: Frame): Named {
  if (frame.outputs.length < 2) return [];
  const names = outputNames(index, frame.id);
  const leaving = frame.wires.filter(({ from, to }) => to === BORDER && from !== BORDER);
  return severalOf(leaving.map((wire) => [keyOf(wire), names.get(frame.outputs[wire.toPort] ?? "")]));
}

/** Parameter names of functions, for tensors that nothing else reads. */
function namesInto({ nodes }: GraphIndex, { items, wires }: Frame, leaving: ReadonlyMap<number, Wire[]>): Named {
  const isAlone = (wire: Wire) =>
    leaving.get(wire.from)?.every(({ source, to }) => source !== wire.source || to === wire.to);
  return items.flatMap(({ id, kind }, item) => {
    const node = nodes.get(id);
    if (kind !== "function" || node?.kind !== "function") return [];
    const names = new Map(Object.entries(node.inputs ?? {}).map(([path, tensor]) => [tensor, path]));
    const arriving = wires.filter(({ from, to, flow }) => to === item && from !== BORDER && flow === "data");
    return severalOf(
      arriving.map((wire) => {
        const name = names.get(wire.tensor) ?? names.get(wire.source) ?? "";
        return [keyOf(wire), isName(name) && isAlone(wire) ? name : undefined];
      }),
    );
  });
}

/** Tensor → its name among the outputs of a module and of the modules that share its box. */
function outputNames(index: GraphIndex, id: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const inner of singleChain(index, id).reverse()) {
    const node = index.nodes.get(inner);
    if (node?.kind !== "module") continue;
    for (const [path, tensor] of Object.entries(node.outputs ?? {})) {
      if (isName(path)) found.set(tensor, path);
    }
  }
  return found;
}

function isName(path: string): boolean {
  return /^[a-z_]\w*$/i.test(path) && path.length <= LONGEST && !SILENT.has(path);
}
