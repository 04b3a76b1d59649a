/** Nodes, tensors and amounts as words. */
import type { GraphIndex, GraphNode } from "../graph/graph.js";
import { fill, strings } from "../shared/strings.js";
import { tensorLabel } from "../view/labels/labels.js";

/** The class of a module, the function of an op, the contents of a bundle, else the kind of node. */
export function typeOf(node: GraphNode): string {
  if (node.kind === "module") return node.class;
  if (node.kind === "bundle") return node.content;
  if (node.kind === "function") return node.function ?? (node.group ? "group" : "record_function");
  return node.kind === "op" ? node.name : node.kind;
}

/** The name of a node: a module's dotted path, a weight's name. */
export function pathOf(node: GraphNode): string {
  if (node.kind === "op" || node.kind === "function") return node.id;
  if (node.kind !== "module") return node.name ?? node.id;
  return (node.call ?? 1) > 1 ? `${node.path} · ${fill(strings.call, node.call ?? 1)}` : node.path;
}

/** Bytes as text: `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  const digits = value < 10 && unit > 0 ? 1 : 0;
  return `${value.toLocaleString(locale(), { maximumFractionDigits: digits })} ${units[unit]}`;
}

/** A time as text: `1.5 ms`. */
export function formatTime(nanoseconds: number): string {
  const units = ["ns", "µs", "ms", "s"];
  let value = nanoseconds;
  let unit = 0;
  while (value >= 999.5 && unit + 1 < units.length) {
    value /= 1000;
    unit += 1;
  }
  return `${Number(value.toPrecision(value < 10 ? 2 : 3)).toLocaleString(locale())} ${units[unit]}`;
}

/** A tensor as `name: 1×16×768 float32`. */
export function tensorText(index: GraphIndex, tensor: string, name?: string): string {
  const spec = index.graph.tensors.get(tensor);
  const look = spec === undefined ? "" : `${tensorLabel(index, tensor).replace(` ${spec.dtype}`, "")} ${spec.dtype}`;
  return [name ?? spec?.name, look].filter(Boolean).join(": ");
}

/** The language tag for numbers: the site's, or English if that is invalid. */
export function locale(): string {
  try {
    return Intl.getCanonicalLocales(strings.numbers)[0] ?? "en";
  } catch {
    return "en";
  }
}

/** `1019904` → `1,019,904`. */
export function exact(count: number): string {
  return count.toLocaleString(locale());
}

/** A share, to follow an amount. */
export function ofWhole(part: number, whole: number | null | undefined): string {
  return whole ? ` (${percent(part / whole)})` : "";
}

/** `12 %`, `0.4 %`, `< 0.1 %`. */
export function percent(share: number): string {
  const value = 100 * share;
  const digits = value < 9.95 ? 1 : 0;
  const written = (amount: number) => `${amount.toLocaleString(locale(), { maximumFractionDigits: digits })} %`;
  return value > 0 && value < 0.1 ? `< ${written(0.1)}` : written(value);
}
