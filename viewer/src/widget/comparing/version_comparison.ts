/** Compares a diagram with the same model in another version of the documentation, or with another model. */
import type { Difference } from "../../diff/difference.js";
import type { GraphData } from "../../graph/graph.js";
import type { Viz } from "../../layout/layout.js";
import type { Comparing } from "../../session/core.js";
import type { Session } from "../../session/session.js";
import { words } from "../../shared/comparison_strings.js";
import { noSteps } from "../../shared/slices.js";
import { fill, strings } from "../../shared/strings.js";
import { box, make } from "../controls/dom.js";
import { loadData, loadOwn } from "../loading/loader.js";
import type { Widget } from "../widget.js";
import { type ChangeBar, changeWords } from "./change_bar.js";
import { IncomparableError, otherGraph } from "./other_graph.js";
import { checkpointLine, headLines, listed } from "./summary.js";
import { findVersions, isLater, type Version } from "./versions.js";

interface Side {
  name: string;
  graph: GraphData;
}

export class VersionComparison {
  readonly #widget: Widget;
  readonly #bar: ChangeBar;
  readonly #comparing: Comparing;
  readonly #select = make("select", "mg-choice");
  readonly #sheet = make("div", "mg-change-sheet");
  /** The folder of the site's diagrams. */
  readonly #site: string;
  #versions: Promise<Version[]> | undefined;
  /** The diagram without a comparison. */
  #own: Session | undefined;
  /** Number of the last request: late results of former requests must not replace it. */
  #wish = 0;

  constructor(widget: Widget, bar: ChangeBar, comparing: Comparing) {
    this.#widget = widget;
    this.#bar = bar;
    this.#comparing = comparing;
    this.#site = new URL(widget.host.getAttribute("src") ?? "", document.baseURI).href;
    this.#select.ariaLabel = words.compareWith;
    this.#select.addEventListener("change", () => void this.start(this.#select.value));
    // the picture of a difference has its two versions
    if (widget.host.hasAttribute("changes")) return;
    bar.element.append(this.#sheet);
    bar.onClose = () => void this.#end();
    bar.onShown = (shown) => this.#light(shown);
    if (widget.host.hasAttribute("against")) return;
    bar.element.prepend(make("label", "mg-version", words.compareWith, this.#select));
    widget.compareWith = (name) => this.start(name);
  }

  /** Offer the versions. */
  async choose(): Promise<void> {
    const isFree = () => this.#widget.comparedWith === undefined;
    const wish = this.#wish;
    if (isFree()) this.#bar.open(strings.loading, false);
    const others = await this.#offer();
    if (wish !== this.#wish) return;
    if (isFree()) this.#bar.open(others.length === 0 ? words.noVersions : "", false);
    this.#select.focus();
  }

  /** Show what changed between a version and this one; without a name, the model. */
  async start(name: string | undefined): Promise<void> {
    if (!name) return this.#end();
    await this.#attempt(async (own, wish) => {
      const versions = await this.#offer();
      if (wish !== this.#wish) return;
      const version = versions.find((one) => one.name === name);
      this.#select.value = version?.name ?? "";
      if (version === undefined) throw new IncomparableError(fill(words.noSuchVersion, name));
      const id = this.#widget.host.getAttribute("graph") ?? "";
      const other = await otherGraph(id, this.#site, own.data, version);
      const sides: [Side, Side] = [
        { name: version.name, graph: other },
        { name: await this.#ownName(), graph: own.data },
      ];
      if (isLater(sides[0].name, sides[1].name)) sides.reverse();
      await this.#compare(sides, version.name, wish);
    });
  }

  /** Show what differs between another model, whose data is beside this one's, and this one. */
  async startWith(id: string): Promise<void> {
    await this.#attempt(async (own, wish) => {
      const core = await loadOwn("core.js");
      const { graph } = await core.unfold(await loadData(id, new URL(`${encodeURIComponent(id)}.js`, this.#site).href));
      const [before = "", after = ""] = this.#widget.host.getAttribute("names")?.split(" ") ?? [];
      await this.#compare(
        [
          { name: before, graph },
          { name: after, graph: own.data },
        ],
        undefined,
        wish,
      );
    });
  }

  /** Compare with the model as it is now, and say why not if that fails. */
  async #attempt(work: (own: Session, wish: number) => Promise<void>): Promise<void> {
    this.#wish += 1;
    const wish = this.#wish;
    await this.#widget.tasks.withSession((session) => {
      if (session.difference === undefined) this.#own = session;
    });
    this.#bar.open(strings.loading, false);
    try {
      if (wish === this.#wish && this.#own !== undefined) await work(this.#own, wish);
    } catch (error) {
      if (!(error instanceof IncomparableError)) throw error;
      if (wish === this.#wish) await this.#say(error.message);
    }
  }

  async #offer(): Promise<Version[]> {
    this.#versions ??= findVersions(this.#widget.host, new URL("..", this.#site).href).catch(() => {
      // another attempt may succeed
      this.#versions = undefined;
      return [];
    });
    const others = (await this.#versions).filter(({ isOwn }) => !isOwn);
    if (this.#select.options.length <= 1) {
      const options = [["", words.chooseVersion], ...others.map(({ name }) => [name, name])];
      this.#select.replaceChildren(...options.map(([value = "", text = ""]) => new Option(text, value)));
    }
    return others;
  }

  /** @param version that links name, if one is compared */
  async #compare(sides: readonly [Side, Side], version: string | undefined, wish: number): Promise<void> {
    const own = this.#own;
    if (own === undefined) return;
    const partial = sides.find(({ graph }) => graph.status.state !== "complete");
    if (partial !== undefined) throw new IncomparableError(fill(words.incomplete, partial.name));
    const [before, after] = [sides[0].graph, sides[1].graph];
    const names = sides.map(({ name }) => name);
    const first = this.#comparing.compare(before, after, false);
    const withDetails = listed(first.difference, false).length === 0;
    const compared = withDetails ? this.#comparing.compare(before, after, true) : first;
    if (wish !== this.#wish) return;
    const { difference } = compared;
    if (difference.same) return this.#say(sameWords(difference, names), difference.reservations);
    if (difference.inventory !== null) return this.#say("", headLines(difference));
    const core = await loadOwn("core.js");
    this.#bar.open("", false);
    const session = await core.open({ graph: own.data, state: own.initial, details: withDetails }, compared);
    await this.#widget.exchange(
      function* (this: VersionComparison, now: Session, viz: Viz) {
        if (wish !== this.#wish) return now;
        yield* session.openChanges(viz);
        return session;
      }.bind(this),
    );
    if (wish !== this.#wish) return;
    this.#widget.comparedWith = version;
    this.#bar.name(names[0] ?? "", names[1] ?? "");
    this.#bar.open("", true);
    this.#bar.show("both");
    this.#list(session, difference);
  }

  async #ownName(): Promise<string> {
    return (await this.#versions)?.find(({ isOwn }) => isOwn)?.name ?? words.thisVersion;
  }

  /** Say why there is no picture, or that there is nothing to show. */
  async #say(text: string, lines: readonly string[] = []): Promise<void> {
    await this.#leave();
    this.#bar.open(text, false);
    this.#sheet.replaceChildren(...lines.map((line) => make("p", "", line)));
  }

  /** Return to the model as it was left. */
  async #leave(): Promise<void> {
    this.#widget.comparedWith = undefined;
    this.#bar.hasList = false;
    this.#sheet.replaceChildren();
    const own = this.#own;
    if (own === undefined || this.#widget.session === own) return;
    await this.#widget.exchange(() => noSteps(own));
    this.#widget.camera.reset();
  }

  async #end(): Promise<void> {
    this.#wish += 1;
    this.#select.value = "";
    // closing calls this
    if (!this.#bar.element.hidden) this.#bar.close();
    else await this.#leave();
  }

  #list(session: Session, difference: Difference): void {
    const rows = listed(difference, session.withDetails).map((number) => this.#row(difference, number));
    const hidden = difference.changes.length - rows.length;
    const list = make("ul", "mg-choices mg-change-list", ...rows);
    const rest = [...(hidden === 0 ? [] : [fill(words.hiddenChanges, hidden)]), checkpointLine(difference)];
    this.#bar.hasList = true;
    this.#sheet.replaceChildren(
      box("mg-told", ...headLines(difference).map((line) => make("p", "", line))),
      list,
      box("mg-told", ...rest.map((line) => make("p", "", line))),
    );
  }

  #row(difference: Difference, number: number): HTMLElement {
    const change = difference.changes[number];
    const element = make("button", "mg-button", ...(change === undefined ? [] : changeWords(change)));
    element.type = "button";
    element.dataset.number = String(number);
    element.addEventListener("click", () => this.#bar.goTo(number));
    return make("li", "", element);
  }

  #light(shown: readonly number[]): void {
    for (const row of this.#sheet.querySelectorAll<HTMLElement>("[data-number]")) {
      const isShown = shown.includes(Number(row.dataset.number));
      row.ariaCurrent = isShown ? "true" : null;
      if (isShown) row.scrollIntoView({ block: "nearest" });
    }
  }
}

function sameWords({ reservations }: Difference, [before = "", after = ""]: readonly string[]): string {
  return reservations.length === 0 ? fill(words.nothingChanged, before, after) : words.unsure;
}
