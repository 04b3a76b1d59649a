/**
 * Unpacks text: compressed bytes, encoded as five characters for every four bytes. Python packs in `html/packing.py`, the
 * build in `packing.mjs`.
 */

/** None of these characters is special in HTML, in templates or in a JavaScript string. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%,()*+-;.=/?@^_:[|]~";
const [LETTERS, BYTES] = [5, 4];

/** @throws if the text is not packed, or the browser can't decompress. */
export async function unpacked(packed: string): Promise<string> {
  return new TextDecoder().decode(await inflated(decoded(packed)));
}

/** @throws like `unpacked`. */
export async function inflatedBase64(text: string): Promise<ArrayBuffer> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  // a function called for each would take ten times as long
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = letters.charCodeAt(i);
  return inflated(bytes);
}

async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function decoded(text: string): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(0x80).fill(DIGITS.length - 1);
  for (let value = 0; value < DIGITS.length; value += 1) values[DIGITS.charCodeAt(value)] = value;
  const groups = Math.ceil(text.length / LETTERS);
  const view = new DataView(new ArrayBuffer(groups * BYTES));
  for (let group = 0; group < groups; group += 1) {
    let number = 0;
    for (let i = group * LETTERS; i < (group + 1) * LETTERS; i += 1) {
      // the last group may be short
      number = number * DIGITS.length + (values[text.charCodeAt(i)] ?? DIGITS.length - 1);
    }
    view.setUint32(group * BYTES, number);
  }
  return new Uint8Array(view.buffer, 0, Math.floor((text.length * BYTES) / LETTERS));
}
