/** Add to the list under a key. */
export function append<K, T>(lists: Map<K, T[]>, key: K, value: T): void {
  const known = lists.get(key);
  if (known === undefined) lists.set(key, [value]);
  else known.push(value);
}
