/** The intermediate format as the viewer reads it. The contract is `docs/graph.schema.json`; Python's `graph.py` explains it. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type Flow = "data" | "shape" | "inferred";

export interface ParameterCount {
  own: number;
  total: number;
  trainable: number;
}

export interface ModelInfo {
  name: string;
  class: string;
  parameters: ParameterCount;
  flops?: number | null;
  activation_bytes?: number | null;
  attributes?: Record<string, Json>;
  inputs?: Record<string, string>;
  outputs?: Record<string, string>;
  signature?: string | null;
  source?: string | null;
}

export interface InputNode {
  kind: "input";
  id: string;
  name: string;
  outputs?: string[];
}

export interface OutputNode {
  kind: "output";
  id: string;
  name: string;
}

export interface OpNode {
  kind: "op";
  id: string;
  name: string;
  outputs?: string[];
  arguments?: Record<string, Json>;
  weights?: Record<string, string>;
  source?: string | null;
  flops?: number | null;
  activation_bytes?: number | null;
  opaque?: boolean;
}

export interface ModuleNode {
  kind: "module";
  id: string;
  path: string;
  class: string;
  parameters: ParameterCount;
  call?: number;
  attributes?: Record<string, Json>;
  inputs?: Record<string, string>;
  outputs?: Record<string, string>;
  flops?: number | null;
  activation_bytes?: number | null;
  signature?: string | null;
  source?: string | null;
}

export interface WeightNode {
  kind: "parameter" | "buffer";
  id: string;
  name: string;
  outputs?: string[];
}

export interface ConstantNode {
  kind: "constant";
  id: string;
  name?: string | null;
  outputs?: string[];
}

export type GraphNode = InputNode | OutputNode | OpNode | ModuleNode | WeightNode | ConstantNode;

export interface Edge {
  to: string;
  tensor: string;
  argument?: string;
  flow?: Flow;
}

export interface TensorSpec {
  shape: (number | string)[] | null;
  dtype: string;
  name?: string | null;
}

export interface ParameterSpec {
  shape: number[] | null;
  dtype: string;
  owner: string;
  kind?: "parameter" | "buffer";
  trainable?: boolean;
  tied?: string[];
}

export interface Frame {
  file: string;
  line: number;
  function: string;
  code?: string;
}

export interface Status {
  state: "complete" | "partial" | "hierarchy";
  mode?: "real" | "fake" | "meta" | null;
  error?: { type: string; message: string; node?: string | null; frames?: Frame[] } | null;
  unseen?: string[];
  guesses?: { node: string | null; value: Json; reason: string }[];
  notes?: string[];
}

export interface Graph {
  format: "modeldiagrams";
  version: string;
  model: ModelInfo;
  nodes: GraphNode[];
  adjacency: Record<string, Edge[]>;
  hierarchy: Record<string, string | null>;
  tensors: Record<string, TensorSpec>;
  parameters: Record<string, ParameterSpec>;
  status: Status;
  assumptions: { subject: string; value: string; reason: string }[];
  provenance: { modeldiagrams: string; torch?: string | null; python?: string | null };
}
