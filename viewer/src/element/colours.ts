/** Colouring by something else than the kind of a node, with its scale below the picture. */
import { box, make } from "./dom.js";
import { classScale, MEASURES, type Measure, measureScale, type Scale } from "./measures.js";
import type { Session } from "./session.js";
import { strings } from "./strings.js";
import { idOf } from "./tree.js";
import type { Widget } from "./widget.js";

type By = "kind" | "class" | Measure;

export function colours(widget: Widget): void {
  let by: By = "kind";
  const legend = box("mg-scale");
  legend.hidden = true;
  widget.foot.prepend(legend);

  let scale: Scale | undefined;
  let painted: SVGSVGElement | undefined;

  const measure = (session: Session) => {
    scale = scaleOf(widget, session, by);
    painted = widget.tree.picture;
    const family = by === "kind" || by === "class" ? by : "amount";
    for (const part of [widget.stage, legend]) part.dataset.by = family;
    legend.hidden = scale === undefined;
    legend.replaceChildren(...(scale === undefined ? [] : legendOf(scale, by)));
    paint(painted);
  };
  const paint = (picture: SVGSVGElement) => {
    if (scale === undefined) return;
    for (const node of picture.querySelectorAll<SVGElement>("[data-id]")) {
      node.dataset.step = String(scale.stepOf(idOf(node)));
    }
  };
  widget.dress.push(paint);

  const choice = make("select", "mg-choice");
  choice.ariaLabel = strings.colours;
  for (const name of ["kind", "class", ...MEASURES] as const) {
    const option = make("option", "", strings[name]);
    option.value = name;
    choice.append(option);
  }
  choice.addEventListener("change", () => {
    by = choice.value as By;
    void widget.askData(measure);
  });
  widget.toolbar.addToMenu(strings.colours, choice);
  widget.on("drawn", () => {
    if (by === "kind" || widget.session === undefined) return;
    // the same picture, more of it in sight, has the same scale
    if (painted === widget.tree.picture) paint(painted);
    else measure(widget.session);
  });
}

function scaleOf(widget: Widget, session: Session, by: By): Scale | undefined {
  if (by === "kind") return undefined;
  return by === "class" ? classScale(session.traced, widget.tree.ids) : measureScale(session.traced, by);
}

function legendOf(scale: Scale, by: By): HTMLElement[] {
  const entries = scale.entries.map(({ step, text }) => {
    const swatch = box("mg-swatch");
    swatch.dataset.step = String(step);
    return make("span", "mg-entry", swatch, text);
  });
  return [make("span", "", `${strings[by]}:`), ...entries];
}
