/** Which nodes with recorded values the boxes of a picture show: also what is inside of a closed one. */
import type { Session } from "../../session/session.js";

export class Places {
  /** Node → the nodes with values in it, itself included. */
  readonly #inside = new Map<string, string[]>();
  readonly #parent: ReadonlyMap<string, string>;
  readonly #isModule: (id: string) => boolean;

  /** @param nodes those with values */
  constructor(session: Session, nodes: Iterable<string>) {
    const { parent, nodes: known } = session.visibleGraph();
    this.#parent = parent;
    this.#isModule = (id) => known.get(id)?.kind === "module";
    for (const node of nodes) for (const around of this.#around(node)) this.#put(around, node);
  }

  /** The nodes with values in a closed box. */
  inside(id: string): readonly string[] {
    return this.#inside.get(id) ?? [];
  }

  /** Whether a node could have been recorded: only calls of modules are. */
  isRecordable(id: string): boolean {
    return this.#isModule(id);
  }

  *#around(id: string): Iterable<string> {
    yield id;
    for (let at = this.#parent.get(id); at !== undefined && at !== ""; at = this.#parent.get(at)) yield at;
  }

  #put(around: string, node: string): void {
    const known = this.#inside.get(around);
    if (known === undefined) this.#inside.set(around, [node]);
    else known.push(node);
  }
}
