import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { packed } from "../../../packing.mjs";
import type { DiagramData } from "../../../src/session/diagram_data.js";

const data = { graph: {}, state: {} } as DiagramData;
let inserted: { src: string; onload: () => void; onerror: () => void; remove: () => void }[];

/** The loader keeps what it loaded for the life of a page, so every test imports its own. */
function loader() {
  return import("../../../src/widget/loading/loader.js");
}

beforeEach(() => {
  inserted = [];
  vi.stubGlobal("location", { href: "https://docs.example/page.html" });
  vi.stubGlobal("document", {
    createElement: () => ({ remove: vi.fn() }),
    head: { append: (script: (typeof inserted)[number]) => inserted.push(script) },
  });
});

afterEach(() => {
  vi.resetModules();
  vi.unstubAllGlobals();
  globalThis.modelDiagramsPacked = undefined;
  globalThis.modelDiagramsData = undefined;
  globalThis.modelDiagramsViz = undefined;
});

it("uses inlined data without loading a script", async () => {
  const { loadData } = await loader();
  globalThis.modelDiagramsData = new Map([["a", data]]);
  expect(await loadData("a", undefined)).toBe(data);
  expect(inserted).toHaveLength(0);
});

it("unpacks data once", async () => {
  const { loadData } = await loader();
  globalThis.modelDiagramsData = new Map([["a", packed('{"graph":{"é":1},"state":{}}')]]);
  const first = await loadData("a", "x.js");
  expect(first).toEqual({ graph: { é: 1 }, state: {} });
  expect(await loadData("a", "x.js")).toBe(first);
  expect(inserted).toHaveLength(0);
});

it.each([
  ["cut off", packed('{"graph":{}}').slice(0, 12)],
  ["no packed text", "{}"],
])("loads data again that is %s", async (_, text) => {
  const { loadData, LoadError } = await loader();
  globalThis.modelDiagramsData = new Map([["a", text]]);
  await expect(loadData("a", "x.js")).rejects.toBeInstanceOf(LoadError);
  void loadData("a", "x.js").catch(() => undefined);
  expect(inserted).toHaveLength(1);
});

it("runs the parts that the page brings along", async () => {
  const { loadOwn } = await loader();
  const core = {} as never;
  globalThis.modelDiagramsPacked = { "core.js": packed("the core") };
  vi.stubGlobal("document", {
    createElement: () => ({ textContent: "" }),
    head: {
      append: ({ textContent }: HTMLScriptElement) => {
        if (textContent === "the core") globalThis.modelDiagramsCore = core;
      },
    },
  });
  expect(await loadOwn("core.js")).toBe(core);
  globalThis.modelDiagramsCore = undefined;
});

it("loads a script once for concurrent calls", async () => {
  const { loadData } = await loader();
  const both = Promise.all([loadData("a", "x.js"), loadData("a", "x.js")]);
  expect(inserted.map((script) => script.src)).toEqual(["x.js"]);
  globalThis.modelDiagramsData = new Map([["a", data]]);
  inserted[0]?.onload();
  expect(await both).toEqual([data, data]);
});

it("names the script that failed and loads it again at the next call", async () => {
  const { loadData } = await loader();
  const first = loadData("a", "x.js");
  inserted[0]?.onerror();
  await expect(first).rejects.toThrow("x.js did not load");
  void loadData("a", "x.js").catch(() => undefined);
  expect(inserted).toHaveLength(2);
});

it("fails if a script does not bring the data", async () => {
  const { loadData, LoadError } = await loader();
  const loading = loadData("a", "x.js");
  inserted[0]?.onload();
  await expect(loading).rejects.toBeInstanceOf(LoadError);
});

it("starts one engine, and another one after it was discarded", async () => {
  const { loadViz, discardViz } = await loader();
  const start = vi.fn(async () => ({}) as never);
  globalThis.modelDiagramsViz = start;
  await Promise.all([loadViz(undefined), loadViz(undefined)]);
  expect(start).toHaveBeenCalledTimes(1);
  discardViz();
  await loadViz(undefined);
  expect(start).toHaveBeenCalledTimes(2);
});

it("takes the page's engine where the page can have no worker", async () => {
  const { loadViz, loadWorkerViz, discardViz } = await loader();
  globalThis.modelDiagramsViz = async () => ({}) as never;
  const viz = await loadWorkerViz(undefined);
  expect(await loadViz(undefined)).toBe(viz);
  discardViz();
  expect(await loadWorkerViz(undefined)).not.toBe(viz);
});

it("loads discarded data again", async () => {
  const { loadData, discardData, LoadError } = await loader();
  globalThis.modelDiagramsData = new Map([["a", data]]);
  await loadData("a", "x.js");
  expect(discardData("a", "x.js")).toBeInstanceOf(LoadError);
  void loadData("a", "x.js").catch(() => undefined);
  expect(inserted).toHaveLength(1);
});

it("refuses scripts from other hosts", async () => {
  const { loadData } = await loader();
  await expect(loadData("a", "https://elsewhere.example/x.js")).rejects.toThrow("own site");
  expect(inserted).toHaveLength(0);
});
