/** Lighting up: the selected node, its edges, what leads to it or follows from it, and the way between two nodes. */
import { linePath } from "../draw.js";
import { type Edge, edgesAt, type Flow, flowOf, reach, shortestWay } from "./flow.js";
import { strings } from "./strings.js";
import { header, idOf, nodeAt } from "./tree.js";
import type { Action, Widget } from "./widget.js";

const SVG = "http://www.w3.org/2000/svg";

/** What is lit of a selected node: only its own edges, all that leads here or follows, or the way to another node. */
type Way = "near" | "before" | "after" | { to: string };

export function lights(widget: Widget): void {
  let way: Way = "near";
  /** What does not step back. */
  let lit: ReadonlySet<string> | undefined;
  const chosen = layer("mg-lit");
  const isDrawn = (id: string) => widget.tree.has(id);

  const light = () => {
    const id = widget.selected;
    mark(widget, id);
    chosen.remove();
    lit = undefined;
    dim(widget.tree.picture, lit);
    if (!id) return;
    void widget.ask((session, viz) => {
      if (id !== widget.selected) return;
      const edges = edgesOf(flowOf(session.layout(viz)), id, way);
      const isLost = edges.length === 0 && typeof way === "object";
      if (isLost) widget.note.say(strings.noWay);
      trace(widget, chosen, edges);
      if (isLost || way === "near") return;
      lit = new Set([id, ...edges.flatMap(({ source, target }) => [source, target])]);
      dim(widget.tree.picture, lit);
    });
  };
  const follow = (other: Way) => {
    way = other;
    light();
  };

  widget.on("selected", () => follow("near"));
  widget.on("drawn", () => {
    if (chosen.parentNode !== widget.tree.picture) light();
    else {
      // the same picture, more of it in sight
      mark(widget, widget.selected);
      dim(widget.tree.picture, lit);
    }
  });
  widget.dress.push((picture) => {
    dim(picture, lit);
    if (chosen.isConnected) picture.append(chosen.cloneNode());
  });
  hover(widget);
  widget.onKey("Escape", () => {
    const picking = widget.pick !== undefined;
    widget.pick = undefined;
    if (picking) widget.note.clear();
    return picking;
  });
  widget.actions.push(lightSwitch(strings.before, "before"), lightSwitch(strings.after, "after"), {
    text: strings.wayTo,
    offered: isDrawn,
    run: (id) => {
      widget.note.insist(strings.wayHint);
      const node = widget.tree.find(id);
      // from here the keyboard walks to the other end
      if (node !== undefined) widget.focus(node);
      widget.pick = (to) => {
        widget.note.clear();
        follow({ to });
      };
    },
  });

  function lightSwitch(text: string, kind: "before" | "after"): Action {
    const pressed = () => way === kind;
    const run = () => follow(pressed() ? "near" : kind);
    return { text, offered: isDrawn, run, pressed };
  }
}

/** The edges of the node under the pointer. */
function hover(widget: Widget): void {
  const edges = layer("mg-lit mg-near");
  let aimed: string | undefined;
  const aim = (id: string | undefined) => {
    if (id === aimed) return;
    aimed = undefined;
    edges.remove();
    if (id === undefined) return;
    widget.peek((session, viz) => {
      trace(widget, edges, edgesAt(flowOf(session.layout(viz)), id));
      aimed = id;
    });
  };
  widget.stage.addEventListener("pointerover", (event) => {
    const node = nodeAt(event.target);
    aim(node !== null && header(node).contains(event.target as Node) ? idOf(node) : undefined);
  });
  widget.stage.addEventListener("pointerleave", () => aim(undefined));
  widget.on("drawn", () => aim(undefined));
}

function edgesOf(flow: Flow, id: string, way: Way): Edge[] {
  if (way === "near") return edgesAt(flow, id);
  if (typeof way === "string") return reach(flow, id, way);
  const onward = shortestWay(flow, id, way.to);
  return onward.length > 0 ? onward : shortestWay(flow, way.to, id);
}

function layer(name: string): SVGPathElement {
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("class", name);
  return path;
}

/** One path over the picture: independent of which edges are in the document, and of where branches are drawn as one. */
function trace(widget: Widget, path: SVGPathElement, edges: Edge[]): void {
  path.setAttribute("d", edges.map(({ line, arrives }) => linePath(line, arrives)).join(""));
  widget.tree.picture.append(path);
}

/** Everything closed that is not among these steps back. */
function dim(picture: SVGSVGElement, lit: ReadonlySet<string> | undefined): void {
  picture.classList.toggle("mg-dim", lit !== undefined);
  for (const node of picture.querySelectorAll<SVGElement>(".mg-node")) {
    node.classList.toggle("mg-on", lit?.has(idOf(node)) === true);
  }
}

/** The selected node is seen and told as such. */
function mark(widget: Widget, id: string | undefined): void {
  const { picture } = widget.tree;
  for (const node of picture.querySelectorAll<SVGElement>(".mg-selected")) {
    node.classList.remove("mg-selected");
    header(node).removeAttribute("aria-selected");
  }
  // out of sight there is nothing to be seen: it is marked when it comes
  const node = id === undefined ? undefined : widget.tree.here(id);
  if (node === undefined) return;
  node.classList.add("mg-selected");
  header(node).setAttribute("aria-selected", "true");
}
