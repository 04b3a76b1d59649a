/** Breaks code into lines that fit a box. */

/** Greatest indent, columns. */
const DEEPEST = 8;
/** Indent of continuation lines, columns. */
const HANGING = 2;

/**
 * @param code lines of source, the first without indent
 * @param columns most characters of a line
 * @param most most lines; if there are more, the last one ends with `…`
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
    // after a comma or a space, unless that leaves half of the line empty
    let end = room;
    while (end > room / 2 && !/[\s,(]/.test(rest[end - 1] ?? "")) end -= 1;
    if (end <= room / 2) end = room;
    found.push(lead + rest.slice(0, end).join("").trimEnd());
    rest = [...rest.slice(end).join("").trimStart()];
    lead = `${indent}${" ".repeat(HANGING)}`;
  }
  return [...found, lead + rest.join("")];
}
