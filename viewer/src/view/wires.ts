/** Links between the nodes of a container → wires between the items of its frame. */
import type { GraphIndex, Link } from "../graph/graph.js";
import { addStrongest } from "../graph/indexing.js";
import { withCables } from "./cables.js";
import { BORDER, type Frame, type Wire } from "./frame.js";
import { tensorLabel, withFormer } from "./labels/labels.js";

export function wiresOf(index: GraphIndex, links: Link[], frame: Frame, positions: Map<string, number>): Wire[] {
  const wires = new Map<string, Wire>();
  for (const link of links) {
    const from = link.from === null ? BORDER : positions.get(link.from);
    const to = link.to === null ? BORDER : positions.get(link.to);
    if (from === undefined || to === undefined) continue;
    const fromPort = portOf(from === BORDER ? frame.inputs : frame.items[from]?.frame?.outputs, link.fromPort);
    const toPort = portOf(to === BORDER ? frame.outputs : frame.items[to]?.frame?.inputs, link.toPort);
    // a collapsed block that reads a tensor twice has one wire
    const ends = `${from} ${to} ${fromPort} ${toPort} ${link.fromPort}`;
    const { tensor, fromPort: source, flow, only } = link;
    const wire: Wire = {
      from,
      to,
      fromPort,
      toPort,
      tensor,
      count: 1,
      source,
      flow,
      label: tensorLabel(index, tensor),
    };
    if (only) wire.only = only;
    addStrongest(wires, ends, withFormer(index, wire));
  }
  return withCables([...wires.values()]);
}

function portOf(ports: string[] | undefined, tensor: string): number {
  return ports === undefined ? -1 : ports.indexOf(tensor);
}
