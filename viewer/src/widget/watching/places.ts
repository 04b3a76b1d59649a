/** What the boxes of a picture stand for: repeats that are shown as one, and what is inside of a closed one. */
import type { Session } from "../../session/session.js";

export class Places {
  readonly #session: Session;
  /** Node → the nodes with values in it, itself included. */
  readonly #inside = new Map<string, string[]>();
  readonly #parent: ReadonlyMap<string, string>;
  readonly #isModule: (id: string) => boolean;
  readonly #repeats = new Map<string, string[]>();

  /** @param nodes those with values */
  constructor(session: Session, nodes: Iterable<string>) {
    const { parent, nodes: known } = session.visibleGraph();
    this.#session = session;
    this.#parent = parent;
    this.#isModule = (id) => known.get(id)?.kind === "module";
    for (const node of nodes) for (const around of this.#around(node)) this.#put(around, node);
  }

  /** Ids of the repeats that a box stands for; only itself where it stands for no others. */
  repeats(id: string): string[] {
    let found = this.#repeats.get(id);
    if (found === undefined) {
      found = this.#findRepeats(id);
      this.#repeats.set(id, found);
    }
    return found;
  }

  /** The nodes with values in a closed box. */
  inside(id: string): readonly string[] {
    return this.#inside.get(id) ?? [];
  }

  /** Whether a node could have been recorded: only calls of modules are. */
  isRecordable(id: string): boolean {
    return this.#isModule(id);
  }

  /** Repeats may be inside of repeats: each way through them is one. */
  #findRepeats(id: string): string[] {
    let found = [id];
    for (const around of this.#around(id)) {
      const members = this.#session.repeatsOf(around);
      if (members.length > 1) {
        found = members.flatMap((member) => found.map((one) => this.#counterpart(one, around, member) ?? one));
      }
    }
    return [...new Set(found)];
  }

  /** The node in another repeat: `layers.3.norm` for `layers.0.norm`, and `norm#2` in the second call of what is around. */
  #counterpart(id: string, around: string, member: string): string | undefined {
    const [path = "", call = ""] = member.split(/(?=#\d+$)/);
    const rest = id.slice(around.length);
    return [member + rest, path + rest + call].find((known) => this.#isModule(known) || this.#inside.has(known));
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
