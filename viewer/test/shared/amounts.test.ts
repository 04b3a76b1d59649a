import { describe, expect, it, vi } from "vitest";
import * as amounts from "../../src/shared/amounts.js";

const table = (await import("../../../tests/amounts.json")).default as unknown as Record<string, [number, string][]>;

/** The module as a site with these strings loads it. */
async function loadedWith(words: Record<string, string>): Promise<typeof amounts> {
  vi.resetModules();
  vi.stubGlobal("modelDiagramsStrings", words);
  const loaded = await import("../../src/shared/amounts.js");
  vi.unstubAllGlobals();
  vi.resetModules();
  return loaded;
}

describe("amounts", () => {
  const formats: Record<string, (value: number) => string> = {
    count: amounts.formatCount,
    flops: amounts.formatFlops,
    bytes: amounts.formatBytes,
    time: amounts.formatTime,
  };

  it.each(Object.keys(formats))("%s is written as Python does", (kind) => {
    const rows = table[kind] ?? [];
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.map(([value]) => formats[kind]?.(value))).toEqual(rows.map(([, text]) => text));
  });

  it("are written in the site's language", async () => {
    expect((await loadedWith({ numbers: "de" })).formatBytes(1536)).toBe("1,5 KiB");
    expect((await loadedWith({ numbers: "de" })).formatFlops(1536, "FLOPs")).toBe("1,54 kFLOPs");
  });

  it("of a whole never become zero", () => {
    expect([0, 0.0001, 0.004, 0.62].map(amounts.percent)).toEqual(["0 %", "< 0.1 %", "0.4 %", "62 %"]);
  });

  it("are English where the site's language tag is invalid", async () => {
    expect((await loadedWith({ numbers: "no language!" })).formatBytes(1536)).toBe("1.5 KiB");
  });
});
