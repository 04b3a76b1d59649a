/** `torch.Tensor.__getitem__` → `getitem`, `torch.nn.modules.linear.Linear` → `Linear`, `lib::op` → `op`. */
import { memoByKey } from "../shared/memo.js";

export const shortName = memoByKey((name: string): string => {
  const last = name.slice(Math.max(name.lastIndexOf("."), name.lastIndexOf(":")) + 1);
  const plain = last.replace(/^_+|_+$/g, "");
  return plain === "" ? last : plain;
});
