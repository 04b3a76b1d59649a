/** What each step of a loop hands to the next: wires back to the start. */
import { contentsOf, type GraphIndex } from "../graph/graph.js";
import { singleChain } from "./boxes.js";
import type { Group } from "./contents.js";
import { BORDER, type Frame, type Wire } from "./frame.js";
import { tensorLabel } from "./labels.js";

/** Gives open modules of a loop's first step the inputs that only later steps read from the step before. */
export function openInputs(index: GraphIndex, frame: Frame, { contents, members, times }: Group): void {
  for (const { to, toPort } of contents.returns ?? []) {
    const at = frame.items.findIndex(({ id }) => id === to);
    const item = frame.items[at];
    if (item === undefined || item.frame === null || item.frame.inputs.includes(toPort)) continue;
    const next = members[members.indexOf(item.id) + members.length / times] ?? "";
    frame.items[at] = { ...item, frame: withInput(index, item.frame, next, toPort) };
  }
}

/** Wires as returns, named after the argument that takes them or, at ops, after their source. */
export function asReturns(index: GraphIndex, wires: Wire[], { items }: Frame): Wire[] {
  return wires.map((wire) => {
    const name = argumentOf(index, items[wire.to]?.id ?? "", wire.tensor) ?? items[wire.from]?.name ?? "";
    return { ...wire, flow: "return", label: `${name} ${wire.label}`.trim() };
  });
}

/**
 * An open module of a step with one more input, for a tensor that comes from the step before. The first step, which the
 * panel shows, may have read a constant there, which is hidden; `next` is its call in the second step.
 */
function withInput(index: GraphIndex, frame: Frame, next: string, port: string): Frame {
  const contents = contentsOf(index, singleChain(index, next).at(-1) ?? next);
  const first = contentsOf(index, singleChain(index, frame.id).at(-1) ?? frame.id);
  const [items, wires] = [[...frame.items], [...frame.wires]];
  for (const link of contents.links) {
    if (link.from !== null || link.to === null || link.fromPort !== port) continue;
    const to = items.findIndex(({ id }) => id === first.children[contents.children.indexOf(link.to ?? "")]);
    const item = items[to];
    if (item === undefined) continue;
    const inner = item.frame === null ? null : withInput(index, item.frame, link.to, link.toPort);
    items[to] = { ...item, frame: inner };
    wires.push({
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
