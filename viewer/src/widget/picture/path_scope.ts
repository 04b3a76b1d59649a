/** What is highlighted of the selected node, and how links write it. */

/** Its own edges, everything upstream or downstream, or the path to another node. */
export type Scope = "near" | "before" | "after" | { pathTo: string };

/** Prefix for nodes named `before` or `after`. */
const TO = "to:";

export function scopeOf(path: string): Scope {
  if (path === "") return "near";
  if (path === "before" || path === "after") return path;
  return { pathTo: path.startsWith(TO) ? path.slice(TO.length) : path };
}

export function scopeText(scope: Scope): string {
  if (typeof scope === "string") return scope === "near" ? "" : scope;
  return typeof scopeOf(scope.pathTo) === "string" ? TO + scope.pathTo : scope.pathTo;
}
