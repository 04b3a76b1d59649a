/** References from text to nodes, `[data-mg-nodes]`: text and nodes light each other, and a click leads to the picture. */
import type { Widget } from "../widget.js";
import { lightOf } from "./lit_nodes.js";
import { widgetOf } from "./widget_of.js";

/** An element that refers to nodes. */
export interface Reference {
  element: HTMLElement;
  ids: readonly string[];
}

/** Connect all references of a page with their diagrams. */
export function connectReferences(root: ParentNode): void {
  const byHost = new Map<Element, Reference[]>();
  for (const element of root.querySelectorAll<HTMLElement>("[data-mg-nodes]")) {
    const { mgNodes = "[]", mgGraph = "", mgPlace = "0" } = element.dataset;
    const same = document.querySelectorAll(`model-graph[graph="${CSS.escape(mgGraph)}"]`);
    const host = same[Number(mgPlace)] ?? same[0];
    if (host === undefined || element.classList.contains("mg-linked")) continue;
    element.classList.add("mg-linked");
    byHost.set(host, [...(byHost.get(host) ?? []), { element, ids: JSON.parse(mgNodes) as string[] }]);
  }
  for (const [host, references] of byHost)
    void widgetOf(host).then((widget) => connect(widget, references, { leads: true }));
}

/** @param options whether a click on a reference leads to its nodes */
export function connect(widget: Widget, references: readonly Reference[], options: { leads: boolean }): void {
  for (const reference of references) {
    light(widget, reference);
    if (options.leads) lead(widget, reference);
  }
  widget.stage.addEventListener("pointerover", ({ target }) => {
    const ids = idsAround(target);
    for (const { element, ids: own } of references)
      element.classList.toggle(
        "mg-spoken",
        own.some((id) => ids.has(id)),
      );
  });
  widget.stage.addEventListener("pointerleave", () => {
    for (const { element } of references) element.classList.remove("mg-spoken");
  });
}

/** The node under the pointer: of an expanded one only its title. */
function idsAround(target: EventTarget | null): ReadonlySet<string> {
  const node = target instanceof Element ? target.closest<SVGElement>("[data-id]") : null;
  return new Set(node === null ? [] : [node.dataset.id ?? ""]);
}

/** Light nodes while their reference has the pointer or the focus. */
function light(widget: Widget, { element, ids }: Reference): void {
  const own = lightOf(widget);
  const on = () => {
    own.show(ids);
    // a node in a closed module is found in the data
    void widget.tasks.load().then(
      () => element.matches(":hover, :focus-visible") && own.show(ids),
      () => undefined,
    );
  };
  const off = () => own.show(undefined);
  element.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && on());
  element.addEventListener("pointerleave", off);
  element.addEventListener("focus", () => element.matches(":focus-visible") && on());
  element.addEventListener("blur", off);
}

function lead(widget: Widget, { element, ids }: Reference): void {
  element.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void goTo(widget, ids);
  });
}

async function goTo(widget: Widget, ids: readonly string[]): Promise<void> {
  const [first = ""] = ids;
  const isVisible = ids.some((id) => widget.tree.has(id));
  if (isVisible) await widget.tasks.load();
  else await widget.change(({ transitions }) => transitions.reveal(first), first);
  widget.host.scrollIntoView({ block: "nearest" });
  widget.goTo(ids.find((id) => widget.tree.has(id)) ?? first);
}
