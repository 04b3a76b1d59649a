/** Packs bytes as `src/shared/unpack.ts` reads them. */
import { deflateSync } from "node:zlib";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%,()*+-;.=/?@^_:[|]~";
const [LETTERS, BYTES] = [5, 4];

export function packed(content) {
  const bytes = deflateSync(content, { level: 9 });
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
