/**
 * Reads what was packed: compressed, and five characters for four bytes. Python packs in `html/packing.py`, the build in
 * `packing.mjs`.
 */

/** No character of it means anything in HTML, in templates, or in a JavaScript string. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%,()*+-;.=/?@^_:[|]~";
const [LETTERS, BYTES] = [5, 4];

/** @throws if the text is not packed, or the browser can't decompress. */
export async function unpacked(packed: string): Promise<string> {
  return new TextDecoder().decode(await inflated(decoded(packed)));
}

/** @throws like `unpacked`. */
export async function inflatedBase64(text: string): Promise<ArrayBuffer> {
  return inflated(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
}

async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function decoded(text: string): Uint8Array<ArrayBuffer> {
  const values = new Map(Array.from(DIGITS, (digit, value) => [digit.charCodeAt(0), value]));
  const groups = Math.ceil(text.length / LETTERS);
  const view = new DataView(new ArrayBuffer(groups * BYTES));
  for (let group = 0; group < groups; group += 1) {
    let number = 0;
    for (let i = group * LETTERS; i < (group + 1) * LETTERS; i += 1) {
      // the last group may be short
      number = number * DIGITS.length + (values.get(text.charCodeAt(i)) ?? DIGITS.length - 1);
    }
    view.setUint32(group * BYTES, number);
  }
  return new Uint8Array(view.buffer, 0, Math.floor((text.length * BYTES) / LETTERS));
}
