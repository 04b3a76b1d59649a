import { describe, expect, it, vi } from "vitest";

/** The widget's facts as a site with these words has them. */
async function factsWith(words: Record<string, string>) {
  vi.resetModules();
  vi.stubGlobal("modelDiagramsStrings", words);
  const facts = await import("../../src/element/facts.js");
  vi.unstubAllGlobals();
  return facts;
}

describe("numbers", () => {
  it("are written as the site's readers write them", async () => {
    expect((await factsWith({})).formatBytes(1536)).toBe("1.5 KiB");
    expect((await factsWith({ numbers: "de" })).formatBytes(1536)).toBe("1,5 KiB");
  });

  it("are English where the site names no language", async () => {
    expect((await factsWith({ numbers: "no language!" })).formatBytes(1536)).toBe("1.5 KiB");
  });
});
