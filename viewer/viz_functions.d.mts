export function keptFunctions(module: Uint8Array): (index: number) => boolean;
