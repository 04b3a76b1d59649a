/** Highlights the selected node and its edges, everything upstream or downstream of it, or the path to another node. */
import type { PictureEdge, Reachability } from "../../session/reachability.js";
import { fill, strings } from "../../shared/strings.js";
import { svg } from "../controls/dom.js";
import type { Mode } from "../modes.js";
import { type Scope, scopeOf, scopeText } from "../picture/path_scope.js";
import { header, idOf, nodeAt } from "../picture/tree.js";
import type { Action, Widget } from "../widget.js";

export function highlight(widget: Widget): void {
  const highlighter = new Highlighter(widget);
  highlightHovered(widget);
  widget.actions.push(
    highlighter.switchTo(strings.before, "before"),
    highlighter.switchTo(strings.after, "after"),
    highlighter.choosePath(),
  );
}

class Highlighter {
  readonly #widget: Widget;
  readonly #edges = svg("path", { class: "mg-lit" });
  #scope: Scope = "near";
  /** The isolated module when the picture was last drawn. */
  #root: string | undefined;
  readonly #mode: Mode = { text: "", leave: () => this.show("near") };
  readonly #picking: Mode = { text: strings.wayHint, leave: () => this.#stopPicking() };

  constructor(widget: Widget) {
    this.#widget = widget;
    widget.on("selected", () => this.show("near"));
    widget.on("drawn", () => this.#refresh());
    widget.exportDecorators.push((picture) => {
      dim(picture, widget.lit);
      if (this.#edges.isConnected) picture.append(this.#edges.cloneNode());
    });
    widget.linked.path = {
      get: () => (widget.selected ? scopeText(this.#scope) : ""),
      set: (path) => this.show(scopeOf(path)),
    };
  }

  show(scope: Scope): void {
    // the start of a path that is being chosen may be gone
    this.#stopPicking();
    this.#scope = scope;
    this.#tell();
    this.#redraw();
  }

  #redraw(): void {
    const { selected } = this.#widget;
    markSelected(this.#widget);
    this.#edges.remove();
    this.#light(undefined);
    if (!selected) return;
    void this.#widget.tasks.withLayout((session, layout) => {
      if (selected === this.#widget.selected) this.#draw(session.flow(layout), selected);
    });
  }

  switchTo(text: string, scope: "before" | "after"): Action {
    const isPressed = () => this.#scope === scope;
    const run = () => this.show(isPressed() ? "near" : scope);
    return { text, isOffered: (id) => this.#widget.tree.has(id), run, isPressed };
  }

  /** Let the reader choose the other end of a path. */
  choosePath(): Action {
    const widget = this.#widget;
    const run = (id: string) => {
      widget.modes.set(this.#picking, true);
      widget.announce(strings.wayHint);
      const node = widget.tree.find(id);
      // the keyboard walks to the other end from here
      if (node !== undefined) widget.focus(node);
      widget.nodePicker = (pathTo) => this.show({ pathTo });
    };
    return { text: strings.wayTo, isOffered: (id) => widget.tree.has(id), run };
  }

  #stopPicking(): void {
    this.#widget.nodePicker = undefined;
    this.#widget.modes.set(this.#picking, false);
  }

  /** Name the path that is shown, and offer to leave it. */
  #tell(): void {
    const { modes, selected = "" } = this.#widget;
    const scope = this.#scope;
    if (typeof scope === "object") this.#mode.text = fill(strings.way, selected, scope.pathTo);
    else this.#mode.text = fill(scope === "before" ? strings.waysBefore : strings.waysAfter, selected);
    modes.set(this.#mode, scope !== "near" && selected !== "");
  }

  #draw(flow: Reachability, id: string): void {
    // paths of a node outside the picture are unknown
    if (!this.#widget.tree.has(id)) return;
    const edges = edgesOf(flow, id, this.#scope);
    const hasNoPath = edges.length === 0 && typeof this.#scope === "object";
    if (hasNoPath) this.#widget.status.say(strings.noWay);
    drawEdges(this.#widget, this.#edges, flow, edges);
    if (hasNoPath || this.#scope === "near") return;
    this.#light(new Set([id, ...edges.flatMap(({ source, target }) => [source, target])]));
  }

  #light(nodes: ReadonlySet<string> | undefined): void {
    this.#widget.light(nodes);
    dim(this.#widget.tree.picture, nodes);
  }

  /** The picture has new nodes, or it is another one. */
  #refresh(): void {
    const { session, tree } = this.#widget;
    const { picture } = tree;
    const root = session?.state.root;
    const hasOtherRoot = root !== this.#root;
    this.#root = root;
    // a path through the whole model doesn't apply to an isolated module
    if (hasOtherRoot) this.show("near");
    else if (this.#edges.parentNode !== picture) this.#redraw();
    else {
      markSelected(this.#widget);
      dim(picture, this.#widget.lit);
    }
  }
}

/** Shows the edges of the node under the pointer. */
function highlightHovered(widget: Widget): void {
  const path = svg("path", { class: "mg-lit mg-near" });
  let hovered: string | undefined;
  const hover = (id: string | undefined) => {
    if (id === hovered) return;
    hovered = undefined;
    path.remove();
    if (id === undefined) return;
    widget.tasks.ifLaidOut((session, layout) => {
      const flow = session.flow(layout);
      drawEdges(widget, path, flow, flow.edgesAt(id));
      hovered = id;
    });
  };
  widget.stage.addEventListener("pointerover", (event) => {
    const node = nodeAt(event.target);
    hover(node !== null && header(node).contains(event.target as Node) ? idOf(node) : undefined);
  });
  widget.stage.addEventListener("pointerleave", () => hover(undefined));
  widget.on("drawn", () => hover(undefined));
}

function edgesOf(flow: Reachability, id: string, scope: Scope): PictureEdge[] {
  if (scope === "near") return flow.edgesAt(id);
  return typeof scope === "string" ? flow.reach(id, scope) : flow.path(id, scope.pathTo);
}

/** One path over the picture, which doesn't depend on the edges in the document or on how they are merged. */
function drawEdges(widget: Widget, path: SVGPathElement, flow: Reachability, edges: PictureEdge[]): void {
  path.setAttribute("d", flow.svgPath(edges));
  widget.tree.picture.append(path);
}

/** Dim every other collapsed node; none if undefined. */
function dim(picture: SVGSVGElement, bright: ReadonlySet<string> | undefined): void {
  picture.classList.toggle("mg-dim", bright !== undefined);
  for (const node of picture.querySelectorAll<SVGElement>(".mg-node")) {
    node.classList.toggle("mg-on", bright?.has(idOf(node)) === true);
  }
}

function markSelected({ tree, selected }: Widget): void {
  for (const node of tree.picture.querySelectorAll<SVGElement>(".mg-selected")) {
    node.classList.remove("mg-selected");
    header(node).removeAttribute("aria-selected");
  }
  // a node that isn't drawn is marked when it is
  const node = selected === undefined ? undefined : tree.findDrawn(selected);
  if (node === undefined) return;
  node.classList.add("mg-selected");
  header(node).setAttribute("aria-selected", "true");
}
