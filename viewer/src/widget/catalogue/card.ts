/** Cards of families, and the tables of what differs between their models. */
import { words } from "../../shared/catalogue_strings.js";
import { fill } from "../../shared/strings.js";
import { box, make } from "../controls/dom.js";
import type { Model } from "./catalogue_data.js";
import { figuresOf } from "./figures.js";
import type { Found } from "./selection.js";

/** What cards need of their catalogue. */
export interface Context {
  /** The URL of the folder of the catalogue's files. */
  assets: string;
  isChosen(model: Model): boolean;
  choose(model: Model, isChosen: boolean): void;
}

/** Names that are told of a family, and of other names of a model. */
const MOST_NAMES = 6;

export function cardOf(found: Found, context: Context): HTMLElement {
  const { data, models } = found.entry;
  const [first] = models;
  const card = make("li", "mg-card");
  if (first === undefined) return card;
  const isOne = models.length === 1;
  const picture = pictureOf(models, isOne, context);
  card.append(
    picture,
    make("p", "mg-card-name", isOne ? linkTo(first) : data.name),
    make("p", "mg-card-class", isOne ? first.name : (data.class ?? "")),
    make(
      "dl",
      "mg-card-figures",
      ...figuresOf(models).map(([title, text]) => box("", make("dt", "", title), make("dd", "", text))),
    ),
    ...notesOf(models, isOne),
    pick(first, isOne ? words.comparePick : fill(words.compareThis, first.shortName), context),
  );
  if (!isOne) {
    const details = modelsOf(found, context);
    card.append(details);
    // for the mouse only: the summary is the control
    picture.addEventListener("click", () => details.toggleAttribute("open"));
  }
  return card;
}

function pictureOf(models: readonly Model[], isOne: boolean, { assets }: Context): HTMLElement {
  const [page, file] = [isOne ? models[0]?.page : undefined, models.find((model) => model.picture)?.picture];
  const picture = page ? make("a", "mg-card-picture") : make("span", "mg-card-picture");
  if (picture instanceof HTMLAnchorElement && page) {
    picture.href = page;
    // the name is the same link
    picture.tabIndex = -1;
    picture.ariaHidden = "true";
  }
  if (!file) return picture;
  const image = make("img", "");
  image.loading = "lazy";
  image.decoding = "async";
  image.alt = "";
  image.src = new URL(encodeURIComponent(file), assets).href;
  picture.append(image);
  return picture;
}

function linkTo({ shortName, name, page }: Model): HTMLElement {
  const link = page ? make("a", "", shortName) : make("span", "", shortName);
  if (link instanceof HTMLAnchorElement && page) link.href = page;
  link.title = name;
  return link;
}

function notesOf(models: readonly Model[], isOne: boolean): HTMLElement[] {
  const isAssumed = models.some(({ assumed }) => assumed);
  const aliases = isOne ? namesOf(models[0]?.aliases ?? []) : "";
  const notes = [...(isAssumed ? [words.assumedInputs] : []), ...(aliases ? [fill(words.alsoNamed, aliases)] : [])];
  const failed = models.find(({ problem }) => problem);
  return [
    ...(notes.length > 0 ? [make("p", "mg-card-note", notes.join(" · "))] : []),
    ...(failed === undefined ? [] : [make("p", "mg-card-problem", toldProblem(failed))]),
  ];
}

/** Without figures, there is no diagram at all. */
function toldProblem({ problem = "", parameters }: Model): string {
  return parameters === undefined ? fill(words.noDiagram, problem) : problem;
}

/** A checkbox to compare a model. */
function pick(model: Model, text: string, { isChosen, choose }: Context): HTMLElement {
  const input = make("input", "");
  input.type = "checkbox";
  input.ariaLabel = fill(words.compareThis, model.shortName);
  input.dataset.model = model.name;
  input.checked = isChosen(model);
  input.addEventListener("change", () => choose(model, input.checked));
  return make("label", "mg-card-compare", input, " ", text);
}

/** The models of a family; their table is made when a reader opens it. */
function modelsOf(found: Found, context: Context): HTMLDetailsElement {
  const { models } = found.entry;
  const told = fill(words.modelsOf, models.length, namesOf(models.map(({ shortName }) => shortName)));
  const some = found.models.length < models.length ? ` · ${fill(words.matching, found.models.length)}` : "";
  const details = make("details", "mg-card-models", make("summary", "", told, some));
  details.addEventListener("toggle", () => details.open && details.append(box("mg-table", tableOf(found, context))), {
    once: true,
  });
  return details;
}

function tableOf({ entry: { data, models }, models: matching }: Found, context: Context): HTMLTableElement {
  const titles = [words.model, ...(data.columns ?? []), words.comparePick];
  const head = make("tr", "", ...titles.map((title) => make("th", "", title)));
  const rows = models.map((model, i) => {
    const aliases = namesOf(model.aliases ?? []);
    const notes = [aliases && fill(words.alsoNamed, aliases), model.problem && toldProblem(model)].filter(Boolean);
    const name = make(
      "th",
      "",
      linkTo(model),
      ...(notes.length > 0 ? [make("p", "mg-card-note", notes.join(" · "))] : []),
    );
    name.scope = "row";
    const cells = (data.columns ?? []).map((_, at) => make("td", "", data.rows?.[i]?.[at] ?? ""));
    return make(
      "tr",
      matching.includes(model) ? "" : "mg-unmatched",
      name,
      ...cells,
      make("td", "", pick(model, "", context)),
    );
  });
  for (const cell of head.cells) cell.scope = "col";
  return make("table", "mg-rows mg-differences", make("thead", "", head), make("tbody", "", ...rows));
}

function namesOf(names: readonly string[]): string {
  const rest = names.length - MOST_NAMES;
  return rest > 1 ? `${names.slice(0, MOST_NAMES).join(", ")}, ${fill(words.moreNames, rest)}` : names.join(", ");
}
