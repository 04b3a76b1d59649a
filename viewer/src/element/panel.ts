/** The details of one node, or of the model, below the picture. */
import { shortName } from "../families.js";
import { runsIn, surface } from "../surface.js";
import { uncover } from "./afloat.js";
import { box, button, iconButton, make, plain } from "./dom.js";
import { factsOf, kindOf, pathOf, sourceOf } from "./facts.js";
import type { Session } from "./session.js";
import { sourceUrl } from "./source.js";
import { withNode } from "./states.js";
import { fill, strings } from "./strings.js";
import { WayBack } from "./wayback.js";
import type { Widget } from "./widget.js";

const CLOSE = "M4 4l8 8M12 4l-8 8";

export function panel(widget: Widget): void {
  const sheet = box("mg-panel-sheet");
  sheet.role = "region";
  sheet.ariaLabel = strings.details;
  sheet.hidden = true;
  widget.foot.prepend(sheet);
  /** Who closed it did not want it at the next click that opens a module, either. */
  let wanted = true;
  /** The picture that the content is about. */
  let shown: SVGSVGElement | undefined;

  const back = new WayBack(widget, sheet);

  const close = () => {
    if (sheet.hidden) return false;
    const leave = back.leaving(widget.selected);
    wanted = false;
    sheet.hidden = true;
    widget.select(undefined);
    leave();
    return true;
  };
  const show = (session: Session) => {
    const id = widget.selected;
    if (id === undefined) return;
    if (sheet.hidden) {
      back.remember();
      widget.say(fill(strings.detailsBelow, titleOf(session, id)));
    }
    sheet.hidden = false;
    const { activeElement } = sheet.getRootNode() as ShadowRoot;
    const focused = sheet.contains(activeElement) ? activeElement : null;
    sheet.replaceChildren(...contentOf(widget, session, id, () => void close()));
    // what was pressed is pressed again, perhaps
    if (focused !== null) alike(sheet, focused)?.focus();
    sheet.scrollTop = 0;
    shown = widget.tree.picture;
  };
  const tell = () =>
    void widget.askData((session) => {
      show(session);
      uncover(widget);
    });
  const open = (id: string) => {
    wanted = true;
    if (widget.selected === id) tell();
    else widget.select(id);
  };

  widget.on("selected", () => {
    const id = widget.selected;
    if (id === undefined) {
      sheet.hidden = true;
    } else if (wanted || !widget.tree.expandable(id)) tell();
  });
  widget.on("drawn", () => {
    if (!sheet.hidden && widget.session !== undefined && shown !== widget.tree.picture) show(widget.session);
  });
  widget.onKey("Escape", close);
  widget.onKey("i", (id) => {
    if (id !== undefined) open(id);
    return id !== undefined;
  });
  widget.toolbar.addToMenu(
    "",
    button(strings.details, () => {
      widget.toolbar.openMenu(false);
      open(widget.selected ?? "");
    }),
  );
}

/** The control that another one was, in what was made before. */
function alike(sheet: HTMLElement, other: Element): HTMLElement | undefined {
  const controls = [...sheet.querySelectorAll<HTMLElement>("button, select")];
  return controls.find(({ tagName, textContent }) => tagName === other.tagName && textContent === other.textContent);
}

function titleOf({ traced }: Session, id: string): string {
  const node = traced.nodes.get(id);
  return short(node === undefined ? traced.graph.model.name : pathOf(node));
}

function contentOf(widget: Widget, session: Session, id: string, close: () => void): Node[] {
  const node = session.traced.nodes.get(id);
  const { model } = session.traced.graph;
  const kind = node === undefined ? model.class : kindOf(node);
  const head = box(
    "mg-panel-head",
    make("strong", "", titleOf(session, id)),
    classLink(widget, kind),
    ...sourceLink(widget, session, id),
  );
  const facts = box("mg-facts", ...factsOf(session.traced, id).map(({ label, lines }) => fact(strings[label], lines)));
  const actions = box(
    "mg-row",
    ...actionsFor(widget, id),
    ...repeats(widget, session, id),
    copyButton(widget, head, facts),
  );
  const closing = iconButton(strings.close, CLOSE, close);
  closing.classList.add("mg-close");
  return [closing, head, actions, facts];
}

/** So much of one fact is shown: models put megabytes into an argument. */
const MOST_LINES = 100;
const LONGEST = 2000;

function fact(label: string, lines: string[]): HTMLElement {
  const shown = lines.slice(0, MOST_LINES).map(short);
  if (lines.length > MOST_LINES) shown.push(fill(strings.moreLines, lines.length - MOST_LINES));
  return make("dl", "", make("dt", "", label), ...shown.map((line) => make("dd", "", line)));
}

function short(text: string): string {
  const rest = text.length - LONGEST;
  return rest > 0 ? `${text.slice(0, LONGEST)} ${fill(strings.moreLetters, rest)}` : text;
}

/** The link to its API page is where the host put it: in the outline. */
function classLink(widget: Widget, kind: string): HTMLElement {
  const mentions = widget.host.querySelectorAll<HTMLElement>(".mg-outline [data-class]");
  const link = [...mentions].find((mention) => mention.dataset.class === kind)?.querySelector("a");
  const code = make("code", "", short(shortName(kind)));
  code.title = plain(short(kind));
  return link == null ? code : anchor(link.href, code);
}

function sourceLink(widget: Widget, session: Session, id: string): HTMLElement[] {
  const source = sourceOf(session.traced, id);
  if (source === undefined) return [];
  const code = make("code", "", short(source));
  const url = sourceUrl(widget.host.getAttribute("source-link") ?? "", source);
  return [url === undefined ? code : anchor(url, code)];
}

/** A link to another page, or only its words where it would be something else. */
function anchor(url: string, content: HTMLElement): HTMLElement {
  if (!/^(https?|file):/.test(url)) return content;
  const link = make("a", "", content);
  link.href = url;
  return link;
}

function actionsFor(widget: Widget, id: string): HTMLElement[] {
  const switches: (() => void)[] = [];
  const made = widget.actions
    .filter((action) => action.offered(id))
    .map((action) => {
      const element = button(action.text, () => {
        action.run(id);
        for (const update of switches) update();
      });
      switches.push(() => {
        if (action.pressed !== undefined) element.ariaPressed = String(action.pressed());
      });
      return element;
    });
  for (const update of switches) update();
  return made;
}

/** A run of equal blocks: any one of them can be opened. */
function repeats(widget: Widget, session: Session, id: string): HTMLElement[] {
  const index = session.shown();
  const holder = index.holder.get(id);
  if (holder === undefined) return [];
  const run = runsIn(surface(index, holder, new Set(session.state.unrolled))).find(({ members }) =>
    members.includes(id),
  );
  const modules = run?.members.filter((member) => index.nodes.get(member)?.kind === "module") ?? [];
  if (run === undefined || modules.length < 2) return [];
  const choice = make("select", "mg-choice", make("option", "", fill(strings.openRepeat, modules.length)));
  choice.ariaLabel = strings.repeats;
  for (const member of modules) {
    const option = make("option", "", member);
    option.value = member;
    choice.append(option);
  }
  choice.addEventListener("change", () => {
    const member = choice.value;
    if (!modules.includes(member)) return;
    void widget
      .change((state, current) => {
        const found = withNode(current, state, member);
        return { ...found, expanded: [...new Set([...found.expanded, member])].sort() };
      }, id)
      .then(() => widget.go(member));
  });
  return [choice];
}

/** So long a button says that it has done its work, ms. */
const SAID = 2000;

function copyButton(widget: Widget, ...parts: HTMLElement[]): HTMLButtonElement {
  const done = () => {
    made.textContent = strings.copied;
    widget.say(strings.copied);
    setTimeout(() => {
      made.textContent = strings.copy;
    }, SAID);
  };
  const made = button(strings.copy, () => {
    // biome-ignore lint/performance/useDomNodeTextContent: lines are wanted as lines
    const text = parts.map((part) => part.innerText).join("\n");
    // only secure pages have a clipboard; elsewhere the text is marked, ready for the reader's own keys
    const mark = () => getSelection()?.selectAllChildren(parts[0]?.parentElement ?? made);
    if (navigator.clipboard === undefined) mark();
    else navigator.clipboard.writeText(text).then(done, mark);
  });
  return made;
}
