/**
 * The part of CSS that picture.css uses, for where no browser is: which declarations hold for an element.
 *
 * Rules for what a reader does (`:hover`) and for media other than the colour scheme hold for no still picture. Anything
 * else that is not understood is an error, found by the tests: a picture with half of its style would be worse.
 */
import type { XmlElement } from "./xml.js";

export type Theme = "light" | "dark";

interface Compound {
  tag: string | null;
  classes: string[];
  root: boolean;
  /** Attribute name → value it is to have; null: any. */
  attributes: [name: string, value: string | null][];
  /** Whether it asks for something that is never so in a still picture. */
  never: boolean;
}

interface Rule {
  /** The element itself last; `child`: directly inside the one before. */
  path: { compound: Compound; child: boolean }[];
  weight: number;
  declarations: [property: string, value: string][];
}

/** The rules of a style sheet in the order in which they hold: the last has the last word. */
export function parseSheet(text: string, theme: Theme): Rule[] {
  const rules = blocks(text.replace(/\/\*[\s\S]*?\*\//g, "")).flatMap(({ prelude, body }) =>
    read(prelude, body, theme),
  );
  // stable: of equal weight, the later one
  return rules.sort((a, b) => a.weight - b.weight);
}

/** The declarations for the last element of a path from the root, in the order in which they hold. */
export function declarations(rules: readonly Rule[], path: readonly XmlElement[]): Map<string, string> {
  return new Map(rules.filter((rule) => matches(rule, path)).flatMap((rule) => rule.declarations));
}

function read(prelude: string, body: string, theme: Theme): Rule[] {
  if (prelude.startsWith("@media")) {
    if (prelude.replace(/^@media\s*/, "") !== `(prefers-color-scheme: ${theme})`) return [];
    return blocks(body).flatMap((inner) => read(inner.prelude, inner.body, theme));
  }
  if (prelude.startsWith("@")) throw new Error(`expected a rule or @media in the picture's style, got ${prelude}`);
  const pairs = body.split(";").filter((line) => line.trim() !== "");
  const declared = pairs.map((line): [string, string] => {
    const at = line.indexOf(":");
    if (at < 0 || line.includes("{")) throw new Error(`expected a declaration in ${prelude}, got ${line.trim()}`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return prelude.split(",").map((selector) => readSelector(selector.trim(), declared));
}

/** `prelude { body }` after `prelude { body }`. */
function blocks(text: string): { prelude: string; body: string }[] {
  const found: { prelude: string; body: string }[] = [];
  let [depth, start, open] = [0, 0, 0];
  for (let i = 0; i < text.length; i += 1) {
    if (text[i] === "{" && depth++ === 0) open = i;
    if (text[i] !== "}" || --depth > 0) continue;
    found.push({ prelude: text.slice(start, open).trim().replace(/\s+/g, " "), body: text.slice(open + 1, i) });
    start = i + 1;
  }
  return found;
}

function readSelector(selector: string, declared: Rule["declarations"]): Rule {
  const path: Rule["path"] = [];
  let child = false;
  for (const part of selector.replace(/>/g, " > ").trim().split(/\s+/)) {
    if (part === ">") child = true;
    else {
      path.push({ compound: readCompound(part), child });
      child = false;
    }
  }
  const weight = path.reduce((sum, { compound }) => sum + weigh(compound), 0);
  return { path, weight, declarations: declared };
}

const SIMPLE = /\.([\w-]+)|\[([\w-]+)(?:="?([^"\]]*)"?)?\]|:([\w-]+)|([\w-]+)|\*/gy;
const NEVER = new Set(["hover", "active", "focus", "focus-visible", "focus-within"]);

function readCompound(text: string): Compound {
  const compound: Compound = { tag: null, classes: [], root: false, attributes: [], never: false };
  let end = 0;
  for (const [whole, name, attribute, value, pseudo, tag] of text.matchAll(SIMPLE)) {
    end += whole.length;
    if (name !== undefined) compound.classes.push(name);
    if (attribute !== undefined) compound.attributes.push([attribute, value ?? null]);
    if (pseudo !== undefined) readPseudo(compound, pseudo);
    if (tag !== undefined) compound.tag = tag;
  }
  if (end !== text.length) throw new Error(`expected tags, classes, attributes and :root in a selector, got ${text}`);
  return compound;
}

function readPseudo(compound: Compound, name: string): void {
  if (name === "root") compound.root = true;
  else if (NEVER.has(name)) compound.never = true;
  else throw new Error(`expected :root or what a reader does in the picture's style, got :${name}`);
}

/** CSS's specificity as one number. */
function weigh({ tag, classes, root, attributes }: Compound): number {
  return (classes.length + attributes.length + (root ? 1 : 0)) * 1000 + (tag === null ? 0 : 1);
}

function matches(rule: Rule, path: readonly XmlElement[]): boolean {
  return matchesFrom(rule.path, rule.path.length - 1, path, path.length - 1);
}

function matchesFrom(parts: Rule["path"], part: number, path: readonly XmlElement[], at: number): boolean {
  const [wanted, element] = [parts[part], path[at]];
  if (wanted === undefined || element === undefined || !fits(wanted.compound, element, at === 0)) return false;
  if (part === 0) return true;
  if (wanted.child) return matchesFrom(parts, part - 1, path, at - 1);
  for (let above = at - 1; above >= 0; above -= 1) {
    if (matchesFrom(parts, part - 1, path, above)) return true;
  }
  return false;
}

function fits(compound: Compound, element: XmlElement, isRoot: boolean): boolean {
  const { tag, classes, root, attributes, never } = compound;
  if (never || (root && !isRoot) || (tag !== null && tag !== element.name)) return false;
  const own = (element.attributes.get("class") ?? "").split(" ");
  if (!classes.every((name) => own.includes(name))) return false;
  return attributes.every(([name, value]) => {
    const has = element.attributes.get(name);
    return has !== undefined && (value === null || has === value);
  });
}
