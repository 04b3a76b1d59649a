/** Types of the element, see the page "Use diagrams in other pages" of the documentation. */

export interface NodeFacts {
  id: string;
  kind: string;
  path: string | undefined;
  type: string | undefined;
  source: string | undefined;
}

export interface ModelGraphEvents {
  "mg-ready": Event;
  select: CustomEvent<{ node: NodeFacts | null }>;
  open: CustomEvent<{ id: string; isOpen: boolean }>;
  change: CustomEvent<{ expanded: string[] }>;
}

export declare class ModelGraph extends HTMLElement {
  readonly selected: string | null;
  picture(): Promise<string>;
  select(id: string | null): Promise<void>;
  open(id: string): Promise<void>;
  close(id: string): Promise<void>;
  toggle(id: string): Promise<void>;
  node(id: string): Promise<NodeFacts | null>;
  nodesAt(file: string, line: number): Promise<string[]>;
  addEventListener<K extends keyof ModelGraphEvents>(
    type: K,
    listener: (this: ModelGraph, event: ModelGraphEvents[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "model-graph": ModelGraph;
  }
}
