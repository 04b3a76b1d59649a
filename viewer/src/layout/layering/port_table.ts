/** The ports of open items as dot knows them: cells of a table. */
import type { Ports } from "../coord/geometry.js";
import type { Plan } from "../plan.js";

/** Ports that dot is told of. Those of rails, which it doesn't know, would only cost it time. */
export interface UsedPorts {
  inputs: ReadonlySet<number>;
  outputs: ReadonlySet<number>;
}

/** Item → its ports with wires for dot. */
export function usedPorts({ slots, wires }: Plan): UsedPorts[] {
  const used = slots.map(() => ({ inputs: new Set<number>(), outputs: new Set<number>() }));
  for (const { from, to, fromPort, toPort, rail } of wires) {
    if (rail) continue;
    used[from]?.outputs.add(fromPort);
    used[to]?.inputs.add(toPort);
  }
  return used;
}

const TABLE = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">';

/** The HTML of a table of the item's width with a cell per port: inputs in the first row, outputs in the last. */
export function portTable(across: number, ports: Ports, used: UsedPorts | undefined, fine: number): string {
  const width = Math.round(across * fine);
  const places = (offsets: number[], kept: ReadonlySet<number> | undefined) =>
    offsets.map((offset, i) => ({ at: Math.round(offset * fine), i })).filter(({ i }) => kept?.has(i));
  const rows = [
    row(places(ports.inputs, used?.inputs), "i", width),
    cell(width, ""),
    row(places(ports.outputs, used?.outputs), "o", width),
  ];
  return `${TABLE}${rows.map((cells) => (cells === "" ? "" : `<TR>${cells}</TR>`)).join("")}</TABLE>`;
}

/** A row with its own columns; empty without ports. */
function row(ports: { at: number; i: number }[], letter: string, width: number): string {
  if (ports.length === 0) return "";
  let end = 0;
  let cells = "";
  for (const { at, i } of ports.sort((a, b) => a.at - b.at)) {
    const start = Math.max(end, at - 1);
    if (start > end) cells += cell(start - end, "");
    cells += cell(2, ` PORT="${letter}${i}"`);
    end = start + 2;
  }
  if (end < width) cells += cell(width - end, "");
  return `<TD>${TABLE}<TR>${cells}</TR></TABLE></TD>`;
}

function cell(width: number, port: string): string {
  return `<TD FIXEDSIZE="TRUE" WIDTH="${width}" HEIGHT="2"${port}></TD>`;
}
