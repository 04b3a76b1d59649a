/** The web APIs that viz-js needs and a bare V8 (no browser, no Node) lacks. Must be imported first. */
const scope = globalThis as Record<string, unknown>;

class Decoder {
  /** UTF-8 → text. */
  decode(bytes: Uint8Array = new Uint8Array(0)): string {
    let text = "";
    for (let i = 0; i < bytes.length; ) {
      const length = sequenceLength(bytes[i] ?? 0);
      text += String.fromCodePoint(codePoint(bytes, i, length));
      i += length;
    }
    return text;
  }
}

function sequenceLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

function codePoint(bytes: Uint8Array, at: number, length: number): number {
  const first = bytes[at] ?? 0;
  let code = length === 1 ? first : first & (0x7f >> length);
  for (let k = 1; k < length; k += 1) code = (code << 6) | ((bytes[at + k] ?? 0) & 0x3f);
  return code;
}

class Address {
  constructor(readonly href: string) {}
}

/** Deterministic on purpose: equal input must give equal bytes, and nothing here is secret. */
function getRandomValues(bytes: Uint8Array): Uint8Array {
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = (i * 73 + 41) & 255;
  return bytes;
}

function ignore(): void {
  // the embedding process has no console
}

scope.TextDecoder ??= Decoder;
scope.URL ??= Address;
scope.location ??= { href: "file:///static.js" };
scope.crypto ??= { getRandomValues };
scope.performance ??= { now: () => 0 };
scope.console ??= { log: ignore, warn: ignore, error: ignore };

/** Compiles synchronously, so that the instance exists when the script has run. */
async function instantiateNow(bytes: BufferSource, imports: WebAssembly.Imports): Promise<unknown> {
  const module = new WebAssembly.Module(bytes);
  return { module, instance: new WebAssembly.Instance(module, imports) };
}

WebAssembly.instantiate = instantiateNow as typeof WebAssembly.instantiate;

export {};
