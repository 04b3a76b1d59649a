/** The nodes with recorded values that the boxes of a picture show, including those inside closed boxes. */
import type { Session } from "../../session/session.js";

export class Places {
  /** Node → the nodes with values that it is or contains. */
  readonly #inside = new Map<string, string[]>();
  readonly #parent: ReadonlyMap<string, string>;
  readonly #isModule: (id: string) => boolean;

  /** @param nodes with values */
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

  /** Whether a node could have been recorded, as only module calls are. */
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
