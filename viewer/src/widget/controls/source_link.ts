/** Links to source lines: fills in the URL templates of the host's repositories. */

const PLACEHOLDER = /\{path(?::([^}]*))?\}/;

/**
 * The URL of `src/pkg/model.py:12` by the first template that applies: `https://…/{path}#L{line}`, or
 * `{path:pkg other}` for these packages only; templates are separated by spaces. Undefined if none applies, or if the
 * result could lead anywhere else.
 */
export function sourceUrl(templates: string, source: string): string | undefined {
  const [, path, line] = /^(.*):(\d+)$/s.exec(source) ?? [];
  if (path === undefined || line === undefined) return undefined;
  const parts = path.split("/");
  if (parts.some(isRelative)) return undefined;
  const encoded = parts.map(encode).join("/");
  for (const template of templates.match(/(?:\{[^}]*\}|\S)+/g) ?? []) {
    const [placeholder, packages] = PLACEHOLDER.exec(template) ?? [];
    if (placeholder === undefined || packages?.split(" ").includes(parts[0] ?? "") === false) continue;
    const url = template.replace(placeholder, () => encoded).replace("{line}", line);
    if (/^https?:\/\//i.test(url)) return url;
  }
  return undefined;
}

/** Path parts that browsers resolve or drop. */
function isRelative(part: string): boolean {
  return part === "" || part === "." || part === "..";
}

/** Percent-encoded; lone surrogates have no encoding. */
function encode(part: string): string {
  return encodeURIComponent(part.replace(/\p{Cs}/gu, "\ufffd"));
}
