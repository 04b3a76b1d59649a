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

  const paint = () => {
    if (by === "kind" && legend.hidden) return;
    void widget.askData((session) => {
      const scale = scaleOf(widget, session, by);
      legend.hidden = scale === undefined;
      legend.replaceChildren(...(scale === undefined ? [] : legendOf(scale, by)));
      widget.stage.dataset.by = by === "kind" || by === "class" ? by : "amount";
      for (const node of widget.tree.picture.querySelectorAll<SVGElement>("[data-id]")) {
        node.dataset.step = scale === undefined ? "" : String(scale.stepOf(idOf(node)));
      }
    });
  };

  const choice = make("select", "mg-choice");
  choice.ariaLabel = strings.colours;
  for (const name of ["kind", "class", ...MEASURES] as const) {
    const option = make("option", "", strings[name]);
    option.value = name;
    choice.append(option);
  }
  choice.addEventListener("change", () => {
    by = choice.value as By;
    paint();
  });
  widget.toolbar.addToMenu(strings.colours, choice);
  widget.on("drawn", paint);
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
