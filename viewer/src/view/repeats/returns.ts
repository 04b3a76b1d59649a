/** What each step of a loop passes to the next, as wires back to the start. */
import { contentsOf, type GraphIndex, type Link, ROOT } from "../../graph/graph.js";
import { singleChain } from "../boxes.js";
import { BORDER, type Frame, type Wire } from "../frame.js";
import { tensorLabel } from "../labels/labels.js";
import { redirect } from "./fold.js";

/** A loop, of which a frame shows one step. */
export interface Loop {
  /** What the step passes to the next, as links between the items of the frame. */
  returns: readonly Link[];
  /** Maps a module call of the first step to the call in the second. */
  next: (id: string) => string;
  /** The module that is called repeatedly, if it is one. */
  module: string | undefined;
}

/** What the first of equal modules in a loop passes to the second. */
export function handedOn(index: GraphIndex, [first = "", second = ""]: readonly string[]): Link[] {
  const around = contentsOf(index, index.parent.get(first) ?? ROOT);
  return around.links.filter(({ from, to }) => from === first && to === second);
}

/** The loop of one module, as links inside it. */
export function loopInside(index: GraphIndex, members: readonly string[]): Loop {
  const [first, second] = members.slice(0, 2).map((id) => innermost(index, id));
  if (first === undefined || second === undefined) return { returns: [], next: () => "", module: undefined };
  const firsts = new Map(second.children.map((id, i) => [id, first.children[i] ?? id]));
  const returns = handedOn(index, members).flatMap(({ fromPort, toPort }) =>
    first.links
      .filter((out) => out.to === null && out.toPort === fromPort && out.from !== null)
      .flatMap(({ from, fromPort: port }) =>
        second.links
          .filter((into) => into.from === null && into.fromPort === toPort && into.to !== null)
          .map((into) => ({ ...redirect(index, { ...into, from: null }, firsts), from, fromPort: port })),
      ),
  );
  return { returns, next: (id) => second.children[first.children.indexOf(id)] ?? "", module: members[0] };
}

function innermost(index: GraphIndex, id: string) {
  return contentsOf(index, singleChain(index, id).at(-1) ?? id);
}

/** Adds the inputs that only later steps read from the step before to the open modules of the first step. */
export function openInputs(index: GraphIndex, frame: Frame, { returns, next }: Loop): void {
  for (const { to, toPort } of returns) {
    const at = frame.items.findIndex(({ id }) => id === to);
    const item = frame.items[at];
    if (item === undefined || item.frame === null || item.frame.inputs.includes(toPort)) continue;
    frame.items[at] = { ...item, frame: withInput(index, item.frame, next(item.id), toPort) };
  }
}

/** Wires as returns, named after the argument of `module` or of the item that reads them; at ops, after their source. */
export function asReturns(index: GraphIndex, wires: Wire[], { items }: Frame, module = ""): Wire[] {
  return wires.map((wire) => {
    const { members = [], id = "" } = items[wire.to] ?? {};
    const argument = argumentOf(index, module, wire.tensor) ?? argumentOf(index, members[0] ?? id, wire.tensor);
    const name = argument ?? items[wire.from]?.name ?? "";
    return { ...wire, flow: "return", label: `${name} ${wire.label}`.trim() };
  });
}

/**
 * An open module of a step with one more input, for a tensor from the step before. The first step, which the panel shows,
 * may have read a constant instead, which is hidden. `next` is the call in the second step.
 */
function withInput(index: GraphIndex, frame: Frame, next: string, port: string): Frame {
  const contents = innermost(index, next);
  const first = innermost(index, frame.id);
  const [items, wires] = [[...frame.items], [...frame.wires]];
  for (const link of contents.links) {
    if (link.from !== null || link.to === null || link.fromPort !== port) continue;
    const to = items.findIndex(({ id }) => id === first.children[contents.children.indexOf(link.to ?? "")]);
    const item = items[to];
    if (item === undefined) continue;
    const inner = item.frame === null ? null : withInput(index, item.frame, link.to, link.toPort);
    items[to] = { ...item, frame: inner };
    // returns stay last
    wires.unshift({
      ...{ from: BORDER, fromPort: frame.inputs.length, to, toPort: inner === null ? -1 : inner.inputs.length - 1 },
      ...{ tensor: link.tensor, count: 1, source: port, flow: "data", label: tensorLabel(index, link.tensor) },
    });
  }
  return { ...frame, items, wires, inputs: [...frame.inputs, port] };
}

/** The argument by which a call of a module takes a tensor. */
function argumentOf(index: GraphIndex, id: string, tensor: string): string | undefined {
  const module = index.nodes.get(id);
  if (module?.kind !== "module") return undefined;
  for (const node of index.graph.nodes) {
    if (node.kind !== "module" || node.path !== module.path) continue;
    for (const [name, taken] of Object.entries(node.inputs ?? {})) if (taken === tensor) return name;
  }
  return undefined;
}
