/** Reads what was packed: compressed, as base64. Python packs in `html/packing.py`, the build in `viz_functions.mjs`. */

/** @throws if the text is not packed, or the browser can't decompress. */
export async function unpackedBytes(packed: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

/** @throws like `unpackedBytes`. */
export async function unpacked(packed: string): Promise<string> {
  return new TextDecoder().decode(await unpackedBytes(packed));
}
