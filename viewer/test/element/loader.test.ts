import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { DiagramData } from "../../src/element/loader.js";

const data = { graph: {}, state: {} } as DiagramData;
let inserted: { src: string; onload: () => void; onerror: () => void; remove: () => void }[];

/** The loader keeps what it has loaded for a page's life: every test gets its own. */
async function loader() {
  vi.resetModules();
  return import("../../src/element/loader.js");
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
  vi.unstubAllGlobals();
  globalThis.modelDiagramsData = undefined;
  globalThis.modelDiagramsViz = undefined;
});

it("takes inlined data without loading anything", async () => {
  const { loadData } = await loader();
  globalThis.modelDiagramsData = new Map([["a", data]]);
  expect(await loadData("a", undefined)).toBe(data);
  expect(inserted).toHaveLength(0);
});

it("runs a script once for all who ask", async () => {
  const { loadData } = await loader();
  const both = Promise.all([loadData("a", "x.js"), loadData("a", "x.js")]);
  expect(inserted.map((script) => script.src)).toEqual(["x.js"]);
  globalThis.modelDiagramsData = new Map([["a", data]]);
  inserted[0]?.onload();
  expect(await both).toEqual([data, data]);
});

it("names what failed and tries again when asked again", async () => {
  const { loadData } = await loader();
  const first = loadData("a", "x.js");
  inserted[0]?.onerror();
  await expect(first).rejects.toThrow("x.js did not load");
  void loadData("a", "x.js").catch(() => undefined);
  expect(inserted).toHaveLength(2);
});

it("complains about a script that brings something else", async () => {
  const { loadData, LoadError } = await loader();
  const loading = loadData("a", "x.js");
  inserted[0]?.onload();
  await expect(loading).rejects.toBeInstanceOf(LoadError);
});

it("starts one engine, and a new one after it was given up", async () => {
  const { loadViz, discardViz } = await loader();
  const start = vi.fn(async () => ({}) as never);
  globalThis.modelDiagramsViz = start;
  await Promise.all([loadViz(undefined), loadViz(undefined)]);
  expect(start).toHaveBeenCalledTimes(1);
  discardViz();
  await loadViz(undefined);
  expect(start).toHaveBeenCalledTimes(2);
});

it("has an engine at hand once it started, and none that was given up", async () => {
  const { loadViz, vizAtHand, discardViz } = await loader();
  globalThis.modelDiagramsViz = async () => ({}) as never;
  const starting = loadViz(undefined);
  expect(vizAtHand()).toBeUndefined();
  const viz = await starting;
  expect(vizAtHand()).toBe(viz);
  discardViz();
  expect(vizAtHand()).toBeUndefined();
});

it("asks again for data that nothing could be made of", async () => {
  const { loadData, discardData, LoadError } = await loader();
  globalThis.modelDiagramsData = new Map([["a", data]]);
  await loadData("a", "x.js");
  expect(discardData("a", "x.js")).toBeInstanceOf(LoadError);
  void loadData("a", "x.js").catch(() => undefined);
  expect(inserted).toHaveLength(1);
});

it("runs no script from elsewhere", async () => {
  const { loadData } = await loader();
  await expect(loadData("a", "https://elsewhere.example/x.js")).rejects.toThrow("own site");
  expect(inserted).toHaveLength(0);
});
