/** Cards of families, and the tables of what differs between their models. */
import { words } from "../../shared/catalogue_strings.js";
import { fill } from "../../shared/strings.js";
import { box, button, make } from "../controls/dom.js";
import type { Model } from "./catalogue_data.js";
import { figuresOf, someOf } from "./figures.js";
import type { Found } from "./selection.js";

/** What cards need of their catalogue. */
export interface Context {
  /** The URL of the catalogue's data; all its files are in one folder. */
  assets: string;
  isChosen(model: Model): boolean;
  choose(model: Model, isChosen: boolean): void;
}

/** Rows that a reader gets at once. */
const LOT = 100;

export function cardOf(found: Found, context: Context): HTMLElement {
  const { data, models: all } = found.entry;
  const { models } = found;
  const [first] = models;
  if (first === undefined) return make("li", "mg-card");
  const only = all.length === 1 ? first : undefined;
  const picture = pictureOf(models.find((model) => model.picture)?.picture, only?.page, context);
  const details = only === undefined ? [detailsOf(found, context)] : [];
  // for the mouse: the summary is the control
  picture.addEventListener("click", () => details[0]?.toggleAttribute("open"));
  const figures = [...figuresOf(models)].map(([title, text]) => box("", make("dt", "", title), make("dd", "", text)));
  return make(
    "li",
    "mg-card",
    picture,
    make("p", "mg-card-name", only ? nameOf(only) : nameOf(first, data.name)),
    make("p", "mg-card-class", ...withBreaks(only?.name ?? data.class ?? "")),
    make("dl", "mg-card-figures", ...figures),
    ...notesOf(models, only),
    pick(first, only ? words.pick : fill(words.pickThis, first.shortName), context),
    ...details,
  );
}

function pictureOf(file: string | undefined, page: string | undefined, { assets }: Context): HTMLElement {
  const picture = page ? make("a", "mg-card-picture") : make("span", "mg-card-picture");
  if (page) {
    picture.setAttribute("href", page);
    // the name is the same link
    picture.tabIndex = -1;
    picture.ariaHidden = "true";
  }
  picture.append(imageOf(file, assets));
  return picture;
}

/** The small picture of a model, if it has one. */
export function imageOf(file: string | undefined, assets: string): Node {
  if (!file) return document.createTextNode("");
  const image = make("img", "");
  image.loading = "lazy";
  image.decoding = "async";
  image.alt = "";
  image.src = new URL(encodeURIComponent(file), assets).href;
  return image;
}

/** The name of a model, or of its family, which leads to its page. */
function nameOf({ shortName, name, page }: Model, text = shortName): HTMLElement {
  const link = make(page ? "a" : "span", "", ...withBreaks(text));
  if (page) link.setAttribute("href", page);
  link.title = name;
  return link;
}

/** Names may break after dots and underscores, rather than inside words. */
function withBreaks(name: string): (Node | string)[] {
  return name.split(/(?<=[._])/).flatMap((part) => [part, document.createElement("wbr")]);
}

function notesOf(models: readonly Model[], only: Model | undefined): HTMLElement[] {
  const isAssumed = ({ assumed }: Model) => assumed === true;
  const assumed = models.every(isAssumed) ? [words.assumedInputs] : models.some(isAssumed) ? [words.someAssumed] : [];
  const notes = [...assumed, ...(only ? aliasesOf(only) : [])];
  const problems = models.flatMap(problemOf).slice(0, 1);
  return [
    ...(notes.length > 0 ? [make("p", "mg-card-note", notes.join(" · "))] : []),
    ...problems.map((problem) => make("p", "mg-card-problem", problem)),
  ];
}

function aliasesOf({ aliases = [] }: Model): string[] {
  return aliases.length > 0 ? [fill(words.alsoNamed, someOf(aliases))] : [];
}

function problemOf({ problem, parameters }: Model): string[] {
  if (!problem) return [];
  return [parameters === undefined ? fill(words.noDiagram, problem) : problem];
}

/** A checkbox to compare a model. */
function pick(model: Model, text: string, { isChosen, choose }: Context): HTMLElement {
  const input = make("input", "");
  input.type = "checkbox";
  input.ariaLabel = fill(words.pickThis, model.shortName);
  input.dataset.model = model.name;
  input.checked = isChosen(model);
  input.addEventListener("change", () => choose(model, input.checked));
  return make("label", "mg-card-compare", input, " ", text);
}

/** The models of a family; their table is made when a reader opens it. */
function detailsOf(found: Found, context: Context): HTMLElement {
  const { models } = found.entry;
  const told = fill(words.modelsOf, models.length, someOf(models.map(({ shortName }) => shortName)));
  const some = found.models.length < models.length ? ` · ${fill(words.matching, found.models.length)}` : "";
  const details = make("details", "mg-card-models", make("summary", "", told, some));
  const open = () => details.append(box("mg-table", tableOf(found, context)));
  details.addEventListener("toggle", open, { once: true });
  return details;
}

/** What a reader looks for is at the top; a button brings the rest. */
function tableOf({ entry: { data, models }, models: matching }: Found, context: Context): HTMLTableElement {
  const { columns = [] } = data;
  const head = make("tr", "", ...[words.model, ...columns, words.pick].map((title) => make("th", "", title)));
  for (const cell of head.cells) cell.scope = "col";
  const body = make("tbody", "");
  const seen = new Set(matching);
  const waiting = [...matching, ...models.filter((model) => !seen.has(model))];
  const more = (count: number) => {
    body.append(...waiting.splice(0, count).map((model) => rowOf(model, columns, context)));
    if (waiting.length === 0) return;
    const ask = button(fill(words.moreNames, waiting.length), () => {
      const { sectionRowIndex } = row;
      row.remove();
      more(LOT);
      body.rows[sectionRowIndex]?.querySelector<HTMLElement>("a, input")?.focus();
    });
    const cell = make("td", "", ask);
    cell.colSpan = columns.length + 2;
    const row = make("tr", "", cell);
    body.append(row);
  };
  more(Math.min(LOT, matching.length));
  return make("table", "mg-rows mg-differences", make("thead", "", head), body);
}

function rowOf(model: Model, columns: readonly string[], context: Context): HTMLElement {
  const notes = [...aliasesOf(model), ...problemOf(model)].map((note) => make("p", "mg-card-note", note));
  const name = make("th", "", nameOf(model), ...notes);
  name.scope = "row";
  const cells = columns.map((_, at) => make("td", "", model.row[at] ?? ""));
  return make("tr", "", name, ...cells, make("td", "", pick(model, "", context)));
}
