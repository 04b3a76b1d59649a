export function watched(module: Uint8Array): Buffer;
export function called(instance: WebAssembly.Instance): number[];
export function stripped(module: Uint8Array, isKept: (index: number) => boolean): Buffer;
export function startChanged<T>(
  start: () => Promise<T>,
  change: (module: Buffer) => Uint8Array,
): Promise<{ library: T; running: WebAssembly.Instance }>;
