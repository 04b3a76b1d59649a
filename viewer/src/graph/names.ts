/** `torch.Tensor.__getitem__` → `getitem`, `torch.nn.modules.linear.Linear` → `Linear`, `lib::op` → `op`. */
export function shortName(name: string): string {
  const found = known.get(name) ?? shortened(name);
  known.set(name, found);
  return found;
}

/** Looked for once: thousands of nodes have a few names. */
const known = new Map<string, string>();

function shortened(name: string): string {
  const last = name.slice(Math.max(name.lastIndexOf("."), name.lastIndexOf(":")) + 1);
  const plain = last.replace(/^_+|_+$/g, "");
  return plain === "" ? last : plain;
}
