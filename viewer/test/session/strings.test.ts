import { describe, expect, it, vi } from "vitest";

/** The module as a site with these strings loads it. */
async function detailsWith(words: Record<string, string>) {
  vi.resetModules();
  vi.stubGlobal("modelDiagramsStrings", words);
  const details = await import("../../src/session/naming.js");
  vi.unstubAllGlobals();
  vi.resetModules();
  return details;
}

describe("numbers", () => {
  it("are written in the site's language", async () => {
    expect((await detailsWith({})).formatBytes(1536)).toBe("1.5 KiB");
    expect((await detailsWith({ numbers: "de" })).formatBytes(1536)).toBe("1,5 KiB");
  });

  it("are English where the site's language tag is invalid", async () => {
    expect((await detailsWith({ numbers: "no language!" })).formatBytes(1536)).toBe("1.5 KiB");
  });
});
