/** Sets the sizes of the inputs: all shapes and costs of the diagram follow. */
import { indexAtSizes } from "../../graph/at_sizes.js";
import type { GraphIndex } from "../../graph/graph.js";
import { type FreeSize, freeSizes, readSizes, refusalTogether, sizesText } from "../../session/chosen_sizes.js";
import { costSentence } from "../../session/cost_sentence.js";
import type { SessionState } from "../../session/diagram_data.js";
import { sizesInWords } from "../../session/naming.js";
import type { Session } from "../../session/session.js";
import { words } from "../../shared/size_strings.js";
import { noSteps } from "../../shared/slices.js";
import { strings } from "../../shared/strings.js";
import { box, button, iconButton, make } from "../controls/dom.js";
import type { Mode } from "../modes.js";
import type { Widget } from "../widget.js";
import { SizeField } from "./size_field.js";

const CLOSE = "M4 4l8 8M12 4l-8 8";

export class SizePanel {
  readonly #widget: Widget;
  /** The trace at the sizes of its pass. */
  readonly #traced: GraphIndex;
  readonly #fields: readonly SizeField[];
  readonly #element = box("mg-scale mg-sizing");
  readonly #told = make("p", "mg-size-told");
  readonly #reset = button(words.resetSizes, () => this.#choose(new Map()));
  #opener: HTMLElement | undefined;
  /** What the reader wants to see, other than the sizes of the pass. */
  #wanted: ReadonlyMap<string, number> = new Map();
  /** Why the last number was refused. */
  #refused = "";
  /** Whether the reader's sizes made numbers of names. */
  #madeNumbers = false;
  readonly #open: Mode = { text: "", leave: () => this.#close(), part: this.#element };
  readonly #set: Mode = { text: "", leave: () => this.#choose(new Map()) };

  constructor(widget: Widget, session: Session) {
    this.#widget = widget;
    this.#traced = session.traced;
    const { sizes } = session.traced.graph;
    this.#fields = (sizes == null ? [] : freeSizes(sizes)).map(
      (free) => new SizeField(free, (refused) => this.#onChange(refused)),
    );
    this.#told.role = "status";
    this.#element.role = "group";
    this.#element.ariaLabel = words.sizesGroup;
    this.#element.hidden = true;
    const close = iconButton(strings.close, CLOSE, () => this.#close());
    close.classList.add("mg-size-close");
    this.#element.append(...this.#fields.map(({ element }) => element), this.#reset, this.#told, close);
    widget.foot.prepend(this.#element);
    widget.on("drawn", () => {
      // what changed between versions has no sizes
      if (widget.session?.difference !== undefined) this.#close();
      this.#tell();
    });
    this.#tell();
  }

  /** Open or close it. */
  toggle(opener: HTMLElement): void {
    if (this.#element.hidden) this.open(opener);
    else this.#close();
  }

  open(opener: HTMLElement): void {
    this.#opener = opener;
    this.#element.hidden = false;
    opener.ariaExpanded = "true";
    this.#widget.modes.set(this.#open, true);
    this.#tell();
    // on touch screens, a keyboard would cover the picture
    if (!matchMedia("(pointer: coarse)").matches) this.#fields[0]?.focus();
    // without the message about loading, it is elsewhere
    void this.#widget.tasks.settled.then(() => this.#element.scrollIntoView({ block: "nearest" }));
  }

  /** What a link contains. */
  get linked(): string {
    return sizesText(this.#shown);
  }

  /** Show the sizes of a link. */
  follow(text: string): void {
    const { sizes } = this.#traced.graph;
    if (sizes == null) return;
    const read = readSizes(sizes, text);
    this.#request(read.sizes, () => ({}));
    if (read.refused.length > 0) this.#widget.status.pin(read.refused.join(" "));
  }

  #close(): void {
    const hadFocus = this.#element.matches(":focus-within");
    this.#element.hidden = true;
    this.#widget.modes.set(this.#open, false);
    this.#tell();
    if (this.#opener === undefined) return;
    this.#opener.ariaExpanded = "false";
    if (hadFocus) this.#opener.focus();
  }

  #onChange(refused: string): void {
    this.#refused = refused;
    const entered = this.#fields.flatMap(({ free, value = this.#sizeOf(free) }): [string, number][] =>
      value === free.size.size ? [] : [[free.name, value]],
    );
    const { sizes } = this.#traced.graph;
    if (refused === "" && sizes != null) this.#refused = refusalTogether(sizes, new Map(entered));
    // the last right picture stays
    if (this.#refused === "") this.#choose(new Map(entered));
    else this.#tell();
  }

  /** Show sizes, as numbers. */
  #choose(sizes: ReadonlyMap<string, number>): void {
    this.#refused = "";
    this.#request(sizes, ({ numbers }) => {
      if (sizes.size === 0) return this.#madeNumbers ? { numbers: false } : {};
      if (this.#shown.size > 0) return {};
      this.#madeNumbers = numbers !== true;
      return { numbers: true };
    });
  }

  /** Requests wait for each other; only the last is drawn. */
  #request(sizes: ReadonlyMap<string, number>, more: (state: SessionState) => Partial<SessionState>): void {
    this.#wanted = sizes;
    const next = (session: Session) => {
      const isWanted = sizes === this.#wanted && sizesText(sizes) !== sizesText(this.#shown);
      if (!isWanted || session.difference !== undefined) return noSteps(session);
      const state = { ...session.state, ...more(session.state) };
      return noSteps(session.sized(indexAtSizes(this.#traced, sizes), state));
    };
    void this.#widget.exchange(next, true);
    void this.#widget.tasks.settled.then(() => {
      // also if the reader stopped it, or it failed
      if (sizes === this.#wanted) this.#fill();
    });
  }

  /** The sizes of the picture, other than those of the pass. */
  get #shown(): ReadonlyMap<string, number> {
    return this.#widget.session?.traced.graph.atSizes?.changed ?? new Map();
  }

  #sizeOf({ name, size }: FreeSize): number {
    return this.#shown.get(name) ?? size.size;
  }

  #fill(): void {
    for (const field of this.#fields) field.value = this.#sizeOf(field.free);
    this.#tell();
  }

  #tell(): void {
    const { session, modes } = this.#widget;
    if (session === undefined) return;
    const shown = this.#shown;
    const own = this.#fields.map(({ free: { name, size } }) => `${name} = ${size.size}`).join(", ");
    this.#set.text = sizesInWords(session.traced);
    // the open panel says it
    modes.set(this.#set, shown.size > 0 && this.#element.hidden === true);
    this.#reset.disabled = shown.size === 0;
    if (this.#element.hidden) return;
    this.#told.textContent = this.#refused || costSentence(session.traced, this.#set.text || own);
    this.#told.classList.toggle("mg-refused", this.#refused !== "");
  }
}
