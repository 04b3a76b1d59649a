/**
 * Finds which functions of a WebAssembly module run, and removes the others.
 *
 * Only function bodies change, so that indices stay the same: the body of a removed function traps.
 */

const [GLOBAL, EXPORT, CODE] = [6, 7, 10];
const MAGIC = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
/** No locals; `unreachable`, `end`. */
const TRAP = Buffer.from([0, 0x00, 0x0b]);
/** `i32`, mutable, `i32.const 0`, `end`. */
const FLAG = Buffer.from([0x7f, 1, 0x41, 0, 0x0b]);

/** Reads a sequence of LEB128 numbers. */
class Reader {
  at = 0;
  constructor(bytes) {
    this.bytes = bytes;
  }

  number() {
    for (let result = 0, shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++];
      result |= (byte & 0x7f) << shift;
      if (byte < 0x80) return result >>> 0;
    }
  }

  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  rest() {
    return this.bytes.subarray(this.at);
  }
}

function leb(number) {
  const bytes = [];
  for (let left = number; ; left >>>= 7) {
    if (left < 0x80) return Buffer.from([...bytes, left]);
    bytes.push((left & 0x7f) | 0x80);
  }
}

/** The module's sections: kind and content. */
function sections(module) {
  const reader = new Reader(module.subarray(MAGIC.length));
  const found = [];
  while (reader.rest().length > 0) found.push({ kind: reader.take(1)[0], content: reader.take(reader.number()) });
  return found;
}

/** A module with the contents of some sections changed. */
function rewritten(module, change) {
  const parts = sections(module).flatMap(({ kind, content }) => {
    const made = change[kind]?.(content) ?? content;
    return [Buffer.from([kind]), leb(made.length), made];
  });
  return Buffer.concat([MAGIC, ...parts]);
}

function bodies(code) {
  const reader = new Reader(code);
  return Array.from({ length: reader.number() }, () => reader.take(reader.number()));
}

function codeOf(made) {
  return Buffer.concat([leb(made.length), ...made.flatMap((body) => [leb(body.length), body])]);
}

/** A section that is a list, with items appended. */
function extended(content, items) {
  const reader = new Reader(content);
  const count = reader.number();
  return Buffer.concat([leb(count + items.length), reader.rest(), ...items]);
}

/** A function body that first sets a global. */
function flagging(body, global) {
  const reader = new Reader(body);
  for (let groups = reader.number(); groups > 0; groups -= 1) {
    reader.number();
    reader.take(1);
  }
  const set = Buffer.concat([Buffer.from([0x41, 1, 0x24]), leb(global)]);
  return Buffer.concat([body.subarray(0, reader.at), set, reader.rest()]);
}

/** The module with a flag for each function, which is set when the function is called; `called` reads the flags. */
export function watched(module) {
  const content = (kind) => sections(module).find((section) => section.kind === kind).content;
  const first = new Reader(content(GLOBAL)).number();
  const functions = bodies(content(CODE));
  const exported = functions.map((_, i) => {
    const name = Buffer.from(`called${i}`);
    return Buffer.concat([leb(name.length), name, Buffer.from([3]), leb(first + i)]);
  });
  return rewritten(module, {
    [GLOBAL]: (old) =>
      extended(
        old,
        functions.map(() => FLAG),
      ),
    [EXPORT]: (old) => extended(old, exported),
    [CODE]: () => codeOf(functions.map((body, i) => flagging(body, first + i))),
  });
}

/** Indices of the functions of a `watched` instance that ran. */
export function called(instance) {
  const flags = Object.entries(instance.exports).filter(([name]) => /^called\d+$/.test(name));
  return flags.filter(([, flag]) => flag.value === 1).map(([name]) => Number(name.slice("called".length)));
}

/** The module without the other functions; calling one of these is a `WebAssembly.RuntimeError`. */
export function stripped(module, isKept) {
  return rewritten(module, { [CODE]: (old) => codeOf(bodies(old).map((body, i) => (isKept(i) ? body : TRAP))) });
}

/**
 * Start a library that contains its own module, with that module changed.
 *
 * @param start instantiates the module
 * @returns the result of `start`, and the instance
 */
export async function startChanged(start, change) {
  const original = WebAssembly.instantiate;
  let running;
  WebAssembly.instantiate = async (bytes, imports) => {
    const made = await original(change(Buffer.from(bytes)), imports);
    running = made.instance;
    return made;
  };
  try {
    return { library: await start(), running };
  } finally {
    WebAssembly.instantiate = original;
  }
}
