export function packed(content: string | Uint8Array): string;
