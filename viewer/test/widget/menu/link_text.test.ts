import { describe, expect, it } from "vitest";
import { emptyView, type LinkedView, linkText, partsOf } from "../../../src/widget/menu/link_text.js";

function view(changes: Partial<LinkedView>): LinkedView {
  return { ...emptyView("pkg.Net", 0), ...changes };
}

function former(part: object): string {
  const text = String.fromCharCode(...new TextEncoder().encode(JSON.stringify(part)));
  return `model-graph-${btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "")}`;
}

describe("a view as text", () => {
  it("is made of paths", () => {
    expect(linkText(view({ open: ["h.0.attn", "h.1"], at: "h.0.attn.c_attn" }))).toBe(
      "pkg.Net?open=h.0.attn,h.1&at=h.0.attn.c_attn",
    );
  });

  it("is the diagram alone where its author shows the same", () => {
    expect(linkText(view({}))).toBe("pkg.Net?");
  });

  it.each([
    ["everything", { open: ["a"], close: ["b", "c"], each: ["d"], once: ["e"], alone: "f", at: "g", with: "1.2" }],
    ["switches", { plumbing: true, direction: "LR", place: 3, more: { lens: "flops", path: "before" } }],
    ["signs of the syntax", { graph: "a~2?b;c", open: ["x,y", "z;&=#%"], at: "?~(a) [b] 'c' \"d\" <e>" }],
    ["any script", { graph: "モデル", open: ["слой.0"], at: "a/add#2" }],
  ])("keeps %s", (_, changes) => {
    const shown = view(changes);
    expect(partsOf(`#${linkText(shown)}`).map(({ view }) => view)).toEqual([shown]);
    // as a browser has it in its address
    const url = new URL("https://docs.example/page.html");
    url.hash = linkText(shown);
    expect(partsOf(url.hash).map(({ view }) => view)).toEqual([shown]);
  });

  it("can stand in Markdown, and in an attribute", () => {
    expect(linkText(view({ at: "a(b)'c\"d<e> f*g" }))).not.toMatch(/[()'"<> ]/);
  });

  it("stands beside those of other diagrams, in the old form, too", () => {
    const texts = [
      linkText(view({ at: "a" })),
      linkText(view({ place: 1, at: "b" })),
      former({ graph: "pkg.Net", node: "c" }),
    ];
    const found = partsOf(`#${texts.join(";")}`);
    expect(found.map(({ text }) => text)).toEqual(texts);
    expect(found.map(({ view }) => [view.place, view.at])).toEqual([
      [0, "a"],
      [1, "b"],
      [0, "c"],
    ]);
  });
});

describe("a hash", () => {
  it("of former versions is read", () => {
    const lists = { open: ["a"], closed: ["b"], unrolled: ["c"], rolled: ["d"] };
    const one = { graph: "pkg.Nét", place: 1, node: "é", root: "f", with: "1.2", plumbing: true, ...lists };
    expect(partsOf(`#${former(one)}.${former({ graph: "b" })}`).map(({ view }) => view)).toEqual([
      {
        ...emptyView("pkg.Nét", 1),
        ...{ open: ["a"], close: ["b"], each: ["c"], once: ["d"], alone: "f", at: "é", with: "1.2" },
        ...{ plumbing: true, isExact: true },
      },
      { ...emptyView("b", 0), isExact: true },
    ]);
  });

  it.each(["", "#", "#install", "#?", "#?open=a", "#model-graph-", "#model-graph-e30", "#model-graph-W10.%", "#a.b;c"])(
    "that is not ours is ignored: %s",
    (hash) => expect(partsOf(hash)).toEqual([]),
  );

  it("with wrong values is read as far as it goes", () => {
    const found = partsOf("#a?open=b,,%ff&at&with==1&plumbing=maybe&&x=y").map(({ view }) => view);
    expect(found).toEqual([{ ...emptyView("a", 0), open: ["b", "%ff"], with: "=1", more: { x: "y" } }]);
  });
});
