/** Payloads of frames → records: JSON with all that is text, then numbers; see `docs/pages/reference/recording.md`. */
import { countsOf, FINEST, type Histogram } from "./histogram.js";

/** Node, kind of the tensor, its name. */
export type Key = readonly [node: string, kind: string, tensor: string];

export interface Row {
  count: number;
  zeros: number;
  bad: number;
  min: number;
  max: number;
  mean: number;
  norm: number;
  dead: number;
  units: number;
  ratio: number | undefined;
  moments: number;
  histogram: Histogram;
}

export interface MomentHead {
  record: "moment";
  step: number;
  phase?: string;
  last?: number;
  traced?: boolean;
}

export interface RunHead {
  record: "run";
  step: number;
  notes?: string[];
}

export interface AnomalyHead {
  record: "anomaly";
  step: number;
  kind: string;
  node?: string;
  what?: string;
  text?: string;
}

export interface Loss {
  step: number;
  value: number;
}

export interface Payload {
  /** Of a newer file, there may be others. */
  record: MomentHead | RunHead | AnomalyHead | undefined;
  losses: Loss[];
}

const HAS_UNITS = 1;
const HAS_RATIO = 2;
const IS_MERGED = 4;

export class Decoder {
  /** The keys of rows, by the numbers that the file gives them. */
  readonly #keys: Key[] = [];

  /** What a payload says, but for rows; payloads come in the order of the file. */
  head(payload: Uint8Array): Payload {
    const reader = new Reader(payload);
    const { record, names = [] } = reader.json();
    this.#keys.push(...names);
    return { record, losses: reader.losses() };
  }

  /** The rows of a moment whose head has been read. */
  rows(payload: Uint8Array): Map<Key, Row> {
    const reader = new Reader(payload);
    reader.json();
    reader.losses();
    const rows = new Map<number, Row>();
    for (let left = reader.varint(); left > 0; left--) rows.set(reader.varint(), reader.row());
    for (let left = reader.varint(); left > 0; left--) {
      const number = reader.varint();
      const same = rows.get(reader.varint());
      if (same !== undefined) rows.set(number, same);
    }
    return new Map([...rows].map(([number, row]) => [this.#key(number), row]));
  }

  #key(number: number): Key {
    const key = this.#keys[number];
    if (key === undefined) throw new RangeError(`no name ${number}`);
    return key;
  }
}

interface Head {
  record?: MomentHead | RunHead | AnomalyHead;
  names?: Key[];
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  varint(): number {
    let number = 0;
    let factor = 1; // counts may have more than 32 bits
    for (;;) {
      const byte = this.#view.getUint8(this.#at++);
      number += (byte & 0x7f) * factor;
      if (byte < 0x80) return number;
      factor *= 128;
    }
  }

  json(): Head {
    return JSON.parse(new TextDecoder().decode(this.#take(this.varint()))) as Head;
  }

  losses(): Loss[] {
    const losses: Loss[] = [];
    for (let left = this.varint(); left > 0; left = this.varint()) {
      for (let step = this.varint(); left > 0; left--) losses.push({ step: step++, value: this.#float() });
    }
    return losses;
  }

  row(): Row {
    const flags = this.varint();
    const count = this.varint();
    this.varint(); // how many tensors are in it, which pages don't show
    const [zeros, bad] = [this.varint(), this.varint()];
    const [min, max, mean, norm] = [this.#float(), this.#float(), this.#float(), this.#float()];
    const [dead, units] = flags & HAS_UNITS ? [this.varint(), this.varint()] : [0, 0];
    const ratio = flags & HAS_RATIO ? this.#float() : undefined;
    const [moments, perOctave] = flags & IS_MERGED ? [this.varint(), this.varint()] : [1, FINEST];
    const numbers = this.#varints(this.varint());
    const histogram = { perOctave, counts: countsOf(numbers) };
    return { count, zeros, bad, min, max, mean, norm, dead, units, ratio, moments, histogram };
  }

  #varints(size: number): number[] {
    const end = this.#at + size;
    const numbers: number[] = [];
    while (this.#at < end) numbers.push(this.varint());
    return numbers;
  }

  #float(): number {
    const value = this.#view.getFloat32(this.#at, true);
    this.#at += 4;
    return value;
  }

  #take(size: number): Uint8Array {
    const start = this.#at;
    this.#at += size;
    return this.#bytes.subarray(start, this.#at);
  }
}
