/** Links to lines of source: the templates of the host's repositories, filled in. */

const PLACE = /\{path(?::([^}]*))?\}/;

/**
 * The address of `src/pkg/model.py:12` by the first template that is for it: `https://…/{path}#L{line}`, or
 * `{path:pkg other}` for these packages only; several stand one after the other. None for what is no line of theirs, and
 * for what would lead elsewhere.
 */
export function sourceUrl(templates: string, source: string): string | undefined {
  const [, path, line] = /^(.*):(\d+)$/s.exec(source) ?? [];
  if (path === undefined || line === undefined) return undefined;
  const parts = path.split("/");
  if (parts.some(climbs)) return undefined;
  const encoded = parts.map(encode).join("/");
  for (const template of templates.match(/(?:\{[^}]*\}|\S)+/g) ?? []) {
    const [place, own] = PLACE.exec(template) ?? [];
    if (place === undefined || own?.split(" ").includes(parts[0] ?? "") === false) continue;
    const url = template.replace(place, () => encoded).replace("{line}", line);
    if (/^https?:\/\//i.test(url)) return url;
  }
  return undefined;
}

/** What a browser would take for a step up, or for nothing. */
function climbs(part: string): boolean {
  return part === "" || part === "." || part === "..";
}

/** Half a character has no bytes. */
function encode(part: string): string {
  return encodeURIComponent(part.replace(/\p{Cs}/gu, "\ufffd"));
}
