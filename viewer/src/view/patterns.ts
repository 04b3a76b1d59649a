/** Patterns of module paths and class names: `*` matches anything including dots, `?` one character. */
import type { FunctionNode, GraphIndex, ModuleNode } from "../graph/graph.js";
import { shortName } from "../graph/names.js";

type Named = ModuleNode | FunctionNode;

export function modules(index: GraphIndex): ModuleNode[] {
  return index.graph.nodes.filter((node) => node.kind === "module");
}

/** Ids of modules whose path or class matches a pattern, and of functions whose name does. */
export function matching(index: GraphIndex, patterns: string[]): string[] {
  return index.graph.nodes
    .filter((node) => node.kind === "module" || node.kind === "function")
    .filter(matcher(patterns))
    .map((node) => node.id);
}

/** A test whether a pattern matches a module's full path, class name or qualified class name; a function's, too. */
export function matcher(patterns: string[]): (node: Named) => boolean {
  const rules = patterns.map(glob);
  const names = (node: Named) =>
    node.kind === "module"
      ? [node.path, shortName(node.class), node.class]
      : [node.id, node.name, node.function ?? node.name];
  return (node) => names(node).some((name) => rules.some((rule) => rule.test(name)));
}

/** A pattern as a test of a whole name. */
export function glob(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replace(/\*+/g, ".*").replace(/\?/g, ".")}$`, "su");
}
