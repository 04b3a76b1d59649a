/** The content of the details panel: facts about a node, and buttons for actions on it. */
import type { Detail, Thumbnail } from "../../session/naming.js";
import type { NodeDetails } from "../../session/node_details.js";
import type { Session } from "../../session/session.js";
import { words } from "../../shared/explore_strings.js";
import { fill } from "../../shared/strings.js";
import { readable } from "../../shared/text.js";
import { box, button, make } from "../controls/dom.js";
import { sourceUrl } from "../controls/source_link.js";
import type { Widget } from "../widget.js";

/** Facts that fit on one line. */
const GIST = ["parameters", "flops", "outputs"];

export function contentOf(widget: Widget, session: Session, id: string, details: NodeDetails): Node[] {
  const title = make("strong", "", shorten(details.title));
  const head = box(
    "mg-panel-head",
    title,
    ...(details.times > 1 ? [make("span", "mg-times", `×${details.times}`)] : []),
    typeLink(widget, details),
    ...sourceLink(widget, details),
  );
  const gist = GIST.flatMap((wanted) => details.facts.filter(({ label }) => label === wanted));
  const line = make(
    "p",
    "mg-gist",
    gist.map(({ label, lines }) => `${words[label]} ${shorten(lines[0] ?? "")}`).join(" · "),
  );
  const facts = box("mg-facts", ...details.facts.map((fact) => factRow(widget, fact)));
  const actions = box(
    "mg-row",
    ...actionButtons(widget, id),
    ...repeatChoice(widget, session, id),
    copyButton(widget, words.copyName, title),
    copyButton(widget, words.copy, head, facts),
  );
  return [head, line, actions, facts];
}

/** Limits for one fact: arguments of models can be megabytes long. */
const MAX_LINES = 100;
const MAX_LENGTH = 2000;

/** Facts with more lines than this are closed after the first. */
const FOLDED: Partial<Record<Detail["label"], number>> = { ways: 5, uncalled: 8 };

function factRow(widget: Widget, { label, lines, places = [], pictures = [] }: Detail): HTMLElement {
  const shown = lines.slice(0, MAX_LINES).map((line, i): (Node | string)[] => {
    return [
      shorten(line),
      ...(places[i] ? [" ", ...placeLink(widget, places[i])] : []),
      ...(pictures[i] ? [thumbnail(pictures[i])] : []),
    ];
  });
  if (lines.length > MAX_LINES) shown.push([fill(words.moreLines, lines.length - MAX_LINES)]);
  const [first = [], ...others] = shown;
  const title = make("dt", "", words[label]);
  const open = shown.length <= (FOLDED[label] ?? MAX_LINES + 1);
  if (open) return make("dl", "", title, ...shown.map((line) => make("dd", "", ...line)));
  const summary = make("summary", "", fill(words.moreLines, others.length));
  const rest = make("details", "", summary, ...others.map((line) => box("", ...line)));
  return make("dl", "", title, make("dd", "", ...first), make("dd", "", rest));
}

function thumbnail({ source, text }: Thumbnail): HTMLElement {
  const image = make("img", "mg-thumbnail");
  image.src = source;
  image.alt = text;
  return make("figure", "", image, make("figcaption", "", text));
}

export function shorten(text: string): string {
  const rest = text.length - MAX_LENGTH;
  return rest > 0 ? `${text.slice(0, MAX_LENGTH)} ${fill(words.moreLetters, rest)}` : text;
}

/** The class, with a link to its API page if the page's outline has one. */
function typeLink(widget: Widget, { type, shortType }: NodeDetails): HTMLElement {
  const mentions = widget.host.querySelectorAll<HTMLElement>(".mg-outline [data-class]");
  const link = [...mentions].find((mention) => mention.dataset.class === type)?.querySelector("a");
  const code = make("code", "", shorten(shortType));
  code.title = readable(shorten(type));
  return link == null ? code : anchor(link.href, code);
}

function sourceLink(widget: Widget, { source }: NodeDetails): HTMLElement[] {
  return source === undefined ? [] : placeLink(widget, source);
}

/** A file and line, with a link to it if the site has one. */
function placeLink(widget: Widget, source: string): HTMLElement[] {
  const code = make("code", "mg-source", shorten(source));
  const url = sourceUrl(widget.host.getAttribute("source-link") ?? "", source);
  return [url === undefined ? code : anchor(url, code)];
}

/** A link to another page; only its content if the URL could run a script. */
function anchor(url: string, content: HTMLElement): HTMLElement {
  if (!/^(https?|file):/.test(url)) return content;
  const link = make("a", "", content);
  link.href = url;
  return link;
}

function actionButtons(widget: Widget, id: string): HTMLElement[] {
  const updates: (() => void)[] = [];
  const update = () => {
    for (const each of updates) each();
  };
  const offered = widget.actions.filter((action) => action.isOffered(id));
  const buttons = offered.map((action) => {
    const element = button(action.text, () => {
      action.run(id);
      update();
    });
    updates.push(() => {
      if (action.isPressed !== undefined) element.ariaPressed = String(action.isPressed());
    });
    return element;
  });
  update();
  return buttons;
}

/** For a node that represents a run of equal modules: a choice of one to open. */
function repeatChoice(widget: Widget, session: Session, id: string): HTMLElement[] {
  const { nodes, parent } = session.visibleGraph();
  // runs around it have their own choice
  const isBeside = (each: string) => parent.get(each) === parent.get(id);
  const isBox = (each: string) => /^(module|function)$/.test(nodes.get(each)?.kind ?? "");
  const modules = session
    .rolled()
    .all(id)
    .filter((each) => isBeside(each) && isBox(each));
  if (modules.length < 2) return [];
  const choice = make("select", "mg-choice", make("option", "", fill(words.openRepeat, modules.length)));
  choice.ariaLabel = words.repeats;
  for (const module of modules) {
    const option = make("option", "", module);
    option.value = module;
    choice.append(option);
  }
  choice.addEventListener("change", () => {
    if (modules.includes(choice.value)) openRepeat(widget, choice.value, id);
  });
  return [choice];
}

function openRepeat(widget: Widget, module: string, shownAs: string): void {
  const open = (session: Session) => {
    const state = session.transitions.reveal(module);
    return { ...state, expanded: [...new Set([...state.expanded, module])].sort() };
  };
  void widget.change(open, shownAs).then(() => widget.goTo(module));
}

/** How long the button shows that it has copied, ms. */
const COPIED_TIME = 2000;

function copyButton(widget: Widget, name: string, ...parts: HTMLElement[]): HTMLButtonElement {
  const onCopied = () => {
    element.textContent = words.copied;
    widget.announce(words.copied);
    setTimeout(() => {
      element.textContent = name;
    }, COPIED_TIME);
  };
  const element = button(name, () => {
    // biome-ignore lint/performance/useDomNodeTextContent: innerText keeps the lines apart
    const text = parts.map((part) => part.innerText).join("\n");
    // insecure pages have no clipboard: select the text, so that the reader can copy it
    const select = () => getSelection()?.selectAllChildren(parts[0] ?? element);
    if (navigator.clipboard === undefined) select();
    else navigator.clipboard.writeText(text).then(onCopied, select);
  });
  return element;
}
