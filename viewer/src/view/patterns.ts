/** Patterns of module paths and class names: `*` matches anything including dots, `?` one character. */
import type { GraphIndex, ModuleNode } from "../graph/graph.js";
import { shortName } from "../graph/names.js";
import type { ViewOptions } from "./options.js";

export function modules(index: GraphIndex): ModuleNode[] {
  return index.graph.nodes.filter((node) => node.kind === "module");
}

/** Ids of modules whose path or class matches a pattern. */
export function matching(index: GraphIndex, patterns: string[]): string[] {
  return modules(index)
    .filter(matcher(patterns))
    .map((node) => node.id);
}

/** A test whether a pattern matches a module's full path, class name or qualified class name. */
export function matcher(patterns: string[]): (node: ModuleNode) => boolean {
  const rules = patterns.map(glob);
  return (node) => [node.path, shortName(node.class), node.class].some((name) => rules.some((rule) => rule.test(name)));
}

function glob(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replace(/\*/g, ".*").replace(/\?/g, ".")}$`, "su");
}

/** An option with patterns that match no module. */
export interface Unmatched {
  option: "expand" | "collapse" | "direction";
  patterns: string[];
}

/** The first option with patterns that match no module of the trace, including modules that pictures omit. */
export function unmatchedPatterns(traced: GraphIndex, { expand, collapse, direction }: ViewOptions): Unmatched | null {
  const byPattern = typeof direction === "object" ? (direction ?? []) : [];
  const options: Unmatched[] = [
    { option: "expand", patterns: expand ?? [] },
    { option: "collapse", patterns: collapse ?? [] },
    // `*` also matches the model itself
    { option: "direction", patterns: byPattern.map(([pattern]) => pattern).filter((pattern) => pattern !== "*") },
  ];
  const all = modules(traced);
  const unmatched = options.map(({ option, patterns }) => ({
    option,
    patterns: patterns.filter((pattern) => !all.some(matcher([pattern]))),
  }));
  return unmatched.find(({ patterns }) => patterns.length > 0) ?? null;
}
