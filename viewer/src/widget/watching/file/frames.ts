/** The frames of a recording's file: length, checksum, packed bytes; see `docs/pages/reference/recording.md`. */

const MAGIC = "mdwatch1";
const HEAD = 8;

/** Where a whole frame's packed payload lies. */
export interface Frame {
  start: number;
  end: number;
}

/** Whether a file begins as recordings do, as far as it goes: one may just have been begun. */
export function isRecording(file: Uint8Array): boolean {
  const beginning = new TextDecoder("latin1").decode(file.subarray(0, MAGIC.length));
  return file.length > 0 && MAGIC.startsWith(beginning);
}

/** All whole frames; ends at the first that is cut off or damaged. */
export function framesOf(file: Uint8Array): Frame[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const found: Frame[] = [];
  let at = MAGIC.length;
  while (at + HEAD <= file.length) {
    const start = at + HEAD;
    const end = start + view.getUint32(at, true);
    if (end > file.length || checksum(file.subarray(start, end)) !== view.getUint32(at + 4, true)) break;
    found.push({ start, end });
    at = end;
  }
  return found;
}

export async function unpackedFrame(file: Uint8Array, { start, end }: Frame): Promise<Uint8Array> {
  const packed = new Blob([file.slice(start, end)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32. */
function checksum(bytes: Uint8Array): number {
  let value = ~0;
  for (const byte of bytes) value = (value >>> 8) ^ (TABLE[(value ^ byte) & 0xff] ?? 0);
  return ~value >>> 0;
}
