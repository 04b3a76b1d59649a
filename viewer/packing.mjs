/** Packs bytes into the text that `src/shared/unpack.ts` reads. */
import { deflateSync } from "node:zlib";
import { zlibAsync } from "@gfx/zopfli";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%,()*+-;.=/?@^_:[|]~";
const [LETTERS, BYTES] = [5, 4];

export function packed(content) {
  return written(deflateSync(content, { level: 9 }));
}

/** Like `packed`, but slower and a few per cent shorter. */
export async function mostPacked(content) {
  return written(Buffer.from(await zlibAsync(content, { numiterations: 3 })));
}

function written(bytes) {
  const missing = -bytes.length & (BYTES - 1);
  const whole = Buffer.concat([bytes, Buffer.alloc(missing)]);
  let text = "";
  for (let at = 0; at < whole.length; at += BYTES) text += group(whole.readUInt32BE(at));
  return text.slice(0, text.length - missing);
}

function group(number) {
  let text = "";
  for (let left = number, i = 0; i < LETTERS; i += 1) {
    text = DIGITS[left % DIGITS.length] + text;
    left = Math.floor(left / DIGITS.length);
  }
  return text;
}
