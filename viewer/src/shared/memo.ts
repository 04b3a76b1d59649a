/** Functions that compute each result once. Objects are immutable: a change makes another one. */

/** A function of an object. */
export function memoByObject<O extends object, T>(make: (of: O) => T): (of: O) => T {
  const known = new WeakMap<O, { value: T }>();
  return (of) => {
    const found = known.get(of) ?? { value: make(of) };
    known.set(of, found);
    return found.value;
  };
}

/** A function of a key, of which there are few. */
export function memoByKey<K, T>(make: (key: K) => T): (key: K) => T {
  const known = new Map<K, { value: T }>();
  return (key) => {
    const found = known.get(key) ?? { value: make(key) };
    known.set(key, found);
    return found.value;
  };
}

/** A function of an object and a key. */
export function memoInObject<O extends object, K, T>(make: (of: O, key: K) => T): (of: O, key: K) => T {
  const functions = memoByObject((of: O) => memoByKey((key: K) => make(of, key)));
  return (of, key) => functions(of)(key);
}
