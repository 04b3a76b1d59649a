/** The details panel below the picture: what is known of a node or the model, and what can be done with it. */
import { detailsOf, type NodeDetails } from "../../session/node_details.js";
import type { Session } from "../../session/session.js";
import { words } from "../../shared/explore_strings.js";
import { fill, strings } from "../../shared/strings.js";
import { readable } from "../../shared/text.js";
import { uncoverSelected } from "../features/sticky.js";
import { box, button, iconButton, make } from "../parts/dom.js";
import { FocusReturn } from "../parts/focus_return.js";
import { sourceUrl } from "../parts/source_link.js";
import type { Widget } from "../widget.js";

const CLOSE = "M4 4l8 8M12 4l-8 8";

export class DetailsPanel {
  readonly element = box("mg-panel-sheet");
  readonly #widget: Widget;
  readonly #focusReturn: FocusReturn;
  readonly #mode = { text: "", leave: () => void this.close(), part: this.element };
  /** False after the reader closed the panel: clicks on modules then only toggle them. */
  #opensOnModules = true;
  /** The picture that the content belongs to. */
  #picture: SVGSVGElement | undefined;

  constructor(widget: Widget) {
    this.#widget = widget;
    this.#focusReturn = new FocusReturn(widget, this.element);
    this.element.role = "region";
    this.element.ariaLabel = strings.details;
    this.element.hidden = true;
    widget.on("drawn", () => this.#onDrawn());
  }

  open(id: string): void {
    this.#opensOnModules = true;
    if (this.#widget.selected === id) this.#load();
    else this.#widget.select(id);
  }

  /** Close the panel; whether it was open. */
  close(): boolean {
    if (this.element.hidden) return false;
    const returnFocus = this.#focusReturn.prepare(this.#widget.selected);
    this.#opensOnModules = false;
    this.#hide();
    this.#widget.select(undefined);
    returnFocus();
    return true;
  }

  /** Show what is selected now. */
  follow(): void {
    const { selected, tree } = this.#widget;
    if (selected === undefined) this.#hide();
    else if (this.#opensOnModules || !tree.canToggle(selected)) this.#load();
  }

  #hide(): void {
    this.element.hidden = true;
    this.#widget.modes.set(this.#mode, false);
  }

  #onDrawn(): void {
    const { session, tree } = this.#widget;
    if (!this.element.hidden && session !== undefined && this.#picture !== tree.picture) this.#show(session);
  }

  #load(): void {
    const { session } = this.#widget;
    if (session === undefined) return;
    this.#show(session);
    uncoverSelected(this.#widget);
  }

  #show(session: Session): void {
    const { selected, tree } = this.#widget;
    if (selected === undefined) return;
    const details = detailsOf(session, selected);
    if (this.element.hidden) {
      this.#focusReturn.remember();
      this.#widget.announce(fill(words.detailsBelow, shorten(details.title)));
    }
    this.element.hidden = false;
    this.#widget.modes.set(this.#mode, true);
    const { activeElement } = this.element.getRootNode() as ShadowRoot;
    const focused = this.element.contains(activeElement) ? activeElement : null;
    const closeButton = iconButton(strings.close, CLOSE, () => this.close());
    closeButton.classList.add("mg-close");
    this.element.replaceChildren(closeButton, ...contentOf(this.#widget, session, selected, details));
    if (focused !== null) counterpart(this.element, focused)?.focus();
    this.element.scrollTop = 0;
    this.#picture = tree.picture;
  }
}

/** The new control that replaces one of the content before. */
function counterpart(panel: HTMLElement, old: Element): HTMLElement | undefined {
  const controls = [...panel.querySelectorAll<HTMLElement>("button, select")];
  return controls.find(({ tagName, textContent }) => tagName === old.tagName && textContent === old.textContent);
}

function contentOf(widget: Widget, session: Session, id: string, details: NodeDetails): Node[] {
  const head = box(
    "mg-panel-head",
    make("strong", "", shorten(details.title)),
    typeLink(widget, details),
    ...sourceLink(widget, details),
  );
  const facts = box("mg-facts", ...details.facts.map(({ label, lines }) => factRow(words[label], lines)));
  const actions = box(
    "mg-row",
    ...actionButtons(widget, id),
    ...repeatChoice(widget, session, id),
    copyButton(widget, head, facts),
  );
  return [head, actions, facts];
}

/** Limits on what is shown of one fact: arguments of models can be megabytes long. */
const MAX_LINES = 100;
const MAX_LENGTH = 2000;

function factRow(label: string, lines: string[]): HTMLElement {
  const shown = lines.slice(0, MAX_LINES).map(shorten);
  if (lines.length > MAX_LINES) shown.push(fill(words.moreLines, lines.length - MAX_LINES));
  return make("dl", "", make("dt", "", label), ...shown.map((line) => make("dd", "", line)));
}

function shorten(text: string): string {
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
  if (source === undefined) return [];
  const code = make("code", "", shorten(source));
  const url = sourceUrl(widget.host.getAttribute("source-link") ?? "", source);
  return [url === undefined ? code : anchor(url, code)];
}

/** A link to another page; only its content where the URL could run a script. */
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

/** For a node that represents a run of equal modules: a choice of the one to open. */
function repeatChoice(widget: Widget, session: Session, id: string): HTMLElement[] {
  const modules = session.repeatsOf(id);
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
    const state = session.withNode(module);
    return { ...state, expanded: [...new Set([...state.expanded, module])].sort() };
  };
  void widget.change(open, shownAs).then(() => widget.goTo(module));
}

/** How long the button says that it has copied, ms. */
const COPIED_TIME = 2000;

function copyButton(widget: Widget, ...parts: HTMLElement[]): HTMLButtonElement {
  const onCopied = () => {
    element.textContent = words.copied;
    widget.announce(words.copied);
    setTimeout(() => {
      element.textContent = words.copy;
    }, COPIED_TIME);
  };
  const element = button(words.copy, () => {
    // biome-ignore lint/performance/useDomNodeTextContent: innerText keeps the lines apart
    const text = parts.map((part) => part.innerText).join("\n");
    // insecure pages have no clipboard: select the text for the reader to copy
    const select = () => getSelection()?.selectAllChildren(parts[0]?.parentElement ?? element);
    if (navigator.clipboard === undefined) select();
    else navigator.clipboard.writeText(text).then(onCopied, select);
  });
  return element;
}
