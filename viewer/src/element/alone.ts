/** One module as a picture of its own, and the way back: the path of modules above the picture. */
import { localName } from "../labels.js";
import { button, make } from "./dom.js";
import { alone, standsAlone } from "./states.js";
import { strings } from "./strings.js";
import type { Widget } from "./widget.js";

/** Made smaller than this, words are hard to read; as the build has it. */
const LEGIBLE = 0.7;

export function focusing(widget: Widget): void {
  const trail = make("nav", "mg-trail");
  trail.ariaLabel = strings.path;
  trail.hidden = true;
  widget.stage.before(trail);

  const show = (id: string | undefined) =>
    widget
      .change((state, session) => alone(session, state, id))
      .then(() => {
        widget.camera.fit();
        (trail.hidden ? widget.stage : trail).scrollIntoView({ block: "nearest" });
      });
  widget.on("drawn", () => {
    const { session } = widget;
    const root = session?.state.root;
    const { picture } = widget.tree;
    // the page's least width is of the picture that it came with
    picture.style.setProperty("--mg-legible", `${LEGIBLE * picture.width.baseVal.value}px`);
    trail.hidden = root === undefined;
    if (session === undefined || root === undefined) return;
    const { traced } = session;
    const steps: [string | undefined, string][] = [];
    for (let at: string | undefined = root; at; at = traced.holder.get(at)) {
      const node = traced.nodes.get(at);
      if (node?.kind === "module") steps.unshift([at, localName(traced, node)]);
    }
    steps.unshift([undefined, traced.graph.model.name]);
    trail.replaceChildren(
      ...steps.map(([id, name]) => {
        const step = button(name, () => void show(id));
        if (id === root) step.ariaCurrent = "page";
        return step;
      }),
    );
  });
  widget.onKey("Escape", () => {
    const root = widget.session?.state.root;
    if (root !== undefined) void show(undefined);
    return root !== undefined;
  });
  widget.actions.push({
    text: strings.alone,
    offered: (id) => {
      const { session } = widget;
      return session !== undefined && id !== session.state.root && standsAlone(session, id);
    },
    run: (id) => void show(id),
  });
}
