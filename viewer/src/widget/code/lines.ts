/** Breaks code into the lines that a box has room for. */

/** More columns than this one are indented as far. */
const DEEPEST = 8;
/** How far what continues a line is indented, columns. */
const HANGING = 2;

/**
 * @param code lines as they are written, the first without indent
 * @param columns how many characters a line holds
 * @param most how many lines there may be; the last one ends with `…` where there are more
 */
export function broken(code: readonly string[], columns: number, most: number): string[] {
  const lines = code.flatMap((line) => brokenLine(line, columns));
  if (lines.length <= most) return lines;
  const last = lines[most - 1] ?? "";
  return [...lines.slice(0, most - 1), `${[...last].slice(0, columns - 2).join("")} …`];
}

function brokenLine(line: string, columns: number): string[] {
  const text = line.trimStart();
  const indent = " ".repeat(Math.min(line.length - text.length, DEEPEST));
  const found: string[] = [];
  let rest = [...text];
  let lead = indent;
  while (lead.length + rest.length > columns) {
    const room = Math.max(columns - lead.length, 1);
    // behind a comma or a space, unless that leaves half of the line empty
    let end = room;
    while (end > room / 2 && !/[\s,(]/.test(rest[end - 1] ?? "")) end -= 1;
    if (end <= room / 2) end = room;
    found.push(lead + rest.slice(0, end).join("").trimEnd());
    rest = [...rest.slice(end).join("").trimStart()];
    lead = `${indent}${" ".repeat(HANGING)}`;
  }
  return [...found, lead + rest.join("")];
}
