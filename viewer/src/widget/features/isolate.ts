/** Shows one module as the whole picture, with the path of modules above it as the way back. */
import { READABLE_SCALE } from "../../shared/legible.js";
import { fill, strings } from "../../shared/strings.js";
import { button, make } from "../controls/dom.js";
import type { Mode } from "../modes.js";
import type { Widget } from "../widget.js";

export function isolate(widget: Widget): void {
  const path = make("nav", "mg-trail");
  path.ariaLabel = strings.path;
  path.hidden = true;
  widget.stage.before(path);

  const show = async (id: string | undefined) => {
    await widget.change(({ transitions }) => transitions.isolate(id));
    widget.camera.fit();
    (path.hidden ? widget.stage : path).scrollIntoView({ block: "nearest" });
  };
  const mode: Mode = { text: "", leave: () => void show(undefined) };
  widget.on("drawn", () => {
    const { session } = widget;
    mode.text = fill(strings.isAlone, session?.isolatedPath().at(-1)?.name ?? "");
    widget.modes.set(mode, session?.state.root !== undefined);
    const { picture } = widget.tree;
    // the page's minimum width is for its own picture
    picture.style.setProperty("--mg-legible", `${READABLE_SCALE * picture.width.baseVal.value}px`);
    showPath(widget, path, (id) => void show(id));
  });
  widget.actions.push({
    text: strings.alone,
    isOffered: (id) => {
      const { session } = widget;
      return session !== undefined && id !== session.state.root && session.transitions.canIsolate(id);
    },
    run: (id) => void show(id),
  });
}

function showPath({ session }: Widget, path: HTMLElement, show: (id: string | undefined) => void): void {
  const root = session?.state.root;
  path.hidden = root === undefined;
  if (session === undefined || root === undefined) return;
  const model = { id: undefined, name: session.traced.graph.model.name };
  path.replaceChildren(
    ...[model, ...session.isolatedPath()].map(({ id, name }) => {
      const step = button(name, () => show(id));
      if (id === root) step.ariaCurrent = "page";
      return step;
    }),
  );
}
