/**
 * The functions of viz-js that layout calls, a third of all: `viz.js` for browsers contains only these.
 *
 * `npm run record-viz` updates the list. If a browser ever needs another function, the engine traps, and the container is
 * laid out without dot, as after any other crash.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zlibAsync } from "@gfx/zopfli";
import { stripped } from "./wasm_functions.mjs";

const FILE = join(import.meta.dirname, "viz_functions.json");
const COMMAND = "npm run record-viz";
const LINE = 100;

function digest(module) {
  return createHash("sha256").update(module).digest("hex");
}

/** Whether a function of this module is on the list. */
export function keptFunctions(module) {
  const { wasm, functions } = JSON.parse(readFileSync(FILE, "utf8"));
  if (wasm !== digest(module)) throw new Error(`@viz-js/viz is not the one that was recorded: run \`${COMMAND}\``);
  const ranges = functions
    .join(",")
    .split(",")
    .map((range) => range.split("-").map(Number));
  const kept = new Set(
    ranges.flatMap(([first, last = first]) => Array.from({ length: last - first + 1 }, (_, i) => first + i)),
  );
  return (index) => kept.has(index);
}

/** Write the list for a module. */
export function record(module, functions) {
  const ranges = [];
  for (const index of [...functions].sort((a, b) => a - b)) {
    const current = ranges[ranges.length - 1];
    if (current?.last === index - 1) current.last = index;
    else ranges.push({ first: index, last: index });
  }
  const lines = [""];
  for (const { first, last } of ranges) {
    const range = first === last ? `${first}` : `${first}-${last}`;
    const line = lines[lines.length - 1];
    if (line.length + range.length > LINE) lines.push(range);
    else lines[lines.length - 1] = line === "" ? range : `${line},${range}`;
  }
  writeFileSync(FILE, `${JSON.stringify({ wasm: digest(module), functions: lines }, null, 2)}\n`);
}

const OPENING = "binaryDecode('";

/** The source of viz-js with a compressed module that contains only the listed functions. */
export async function withoutUnusedFunctions(source) {
  const start = source.indexOf(OPENING) + OPENING.length;
  let end = start;
  while (end > 0 && source[end] !== "'") end += source[end] === "\\" ? 2 : 1;
  if (start < OPENING.length || end >= source.length) {
    throw new Error("viz-js has its module elsewhere: mend viz_functions.mjs");
  }
  const letters = new Function(`return '${source.slice(start, end)}'`)();
  // viz-js writes some bytes as a character above 255
  const module = Buffer.from(Array.from(letters, (letter) => (~letter.charCodeAt(0) >> 8) & letter.charCodeAt(0)));
  // pages that contain the viewer compress this text again, which undoes the overhead of base64
  const bytes = await zlibAsync(stripped(module, keptFunctions(module)), { numiterations: 5 });
  const text = Buffer.from(bytes).toString("base64");
  return [
    `import { inflatedBase64 } from ${JSON.stringify(join(import.meta.dirname, "src/shared/unpack.ts"))};`,
    // viz-js awaits the module
    `${source.slice(0, start - OPENING.length)}inflatedBase64("${text}"${source.slice(end + 1)}`,
  ].join("\n");
}
