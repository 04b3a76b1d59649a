/** What readers of a catalogue find, in which order, and what they are told: against a plain oracle on random catalogues. */

import { describe, expect, it } from "vitest";
import { atOnce } from "../../../src/shared/slices.js";
import { type Choice, choiceIn, searchWith } from "../../../src/widget/catalogue/address.js";
import { type CatalogueData, listed, type ModelData, sortKey } from "../../../src/widget/catalogue/catalogue_data.js";
import { figuresOf } from "../../../src/widget/catalogue/figures.js";
import { termsOf } from "../../../src/widget/catalogue/query.js";
import { resultLine } from "../../../src/widget/catalogue/result_line.js";
import { selected } from "../../../src/widget/catalogue/selection.js";
import { dice } from "../../random_plans.js";

const NONE: Choice = { query: "", sort: "", in: "", size: "" };

function choose(data: CatalogueData, choice: Partial<Choice>) {
  const listing = atOnce(listed(data));
  const result = atOnce(selected(listing, { ...NONE, ...choice }));
  const names = [...result.groups.values()].flat().map(({ models }) => models.map(({ name }) => name));
  return { names, groups: [...result.groups.keys()], line: resultLine(listing, result) };
}

describe("a random catalogue", () => {
  const LAYERS = ["Conv2d", "GroupNorm", "LayerNorm", "ReLU"];
  const OPS = ["add", "group_norm", "relu", "softmax"];
  const WORDS = [
    "net",
    "net1",
    "relu",
    "uses relu",
    "norm",
    "GROUPNORM",
    "-groupnorm",
    "-relu",
    "uses norm",
    "b.",
    "zz",
  ];
  const SIZES: Record<string, [number, number]> = { "0-1M": [0, 1e6], "1M-10M": [1e6, 1e7], "1B-": [1e9, 1e99] };

  function random(roll: (below: number) => number, groupBy: CatalogueData["groupBy"]): CatalogueData {
    const some = (names: string[]) => names.flatMap((_, at) => (roll(2) ? [at] : []));
    const uses = [0, 1, 2, 3].map((): [number[], number[]] => [some(LAYERS), some(OPS)]);
    const models: ModelData[] = [];
    const families = Array.from({ length: 12 }, (_, at) => {
      const module = `pkg.${"abc"[roll(3)]}`;
      const own = Array.from({ length: 1 + roll(3) }, () => {
        const size = 10 ** (5 + roll(6));
        const known = roll(5) > 0 ? { parameters: size, flops: 2 * size, uses: roll(uses.length) } : {};
        const since = roll(2) ? { since: `1.${roll(12)}` } : {};
        const aliases = roll(5) ? [] : ["pkg.relu_net"];
        return models.push({ name: `${module}.net${models.length}`, id: "", aliases, ...known, ...since }) - 1;
      });
      return { name: `Net${at}`, class: `${module}.Net${at}`, module, models: own };
    });
    return { groupBy, layers: LAYERS, ops: OPS, uses, families, models };
  }

  /** As the documentation of the search says it, one model at a time. */
  function isFound({ families, models, uses }: CatalogueData, at: number, query: string): boolean {
    const textOf = (n: number) => {
      const family = families.find((one) => one.models.includes(n));
      return [models[n]?.name, models[n]?.aliases, family?.name, family?.class].join("\n").toLowerCase();
    };
    const [layers, ops] = uses[models[at]?.uses ?? -1] ?? [[], []];
    const used = [...layers.map((n) => LAYERS[n] ?? ""), ...ops.map((n) => OPS[n] ?? "")].map((n) => n.toLowerCase());
    const all = [...LAYERS, ...OPS].map((name) => name.toLowerCase());
    return [...query.toLowerCase().matchAll(/(-?)(uses )?(\S+)/g)].every(([, minus, isUse, word = ""]) => {
      const isName = !isUse && models.some((_, n) => textOf(n).includes(word));
      const isPart = !isName && !all.includes(word);
      const isUsed = isPart ? used.some((name) => name.includes(word)) : used.includes(word);
      return ((isName && textOf(at).includes(word)) || isUsed) === (minus === "");
    });
  }

  /** The best key of some models; families without one are last. */
  function keyOf(models: ModelData[], by: "parameters" | "flops" | "since", sign: number): number {
    const values = models.map((model) => (by === "since" ? model.since?.slice(2) : model[by]));
    return Math.min(
      Number.POSITIVE_INFINITY,
      ...values.filter((one) => one !== undefined).map((one) => sign * Number(one)),
    );
  }

  it.each(Array.from({ length: 60 }, (_, seed) => seed))("%i", (seed) => {
    const roll = dice(seed + 1);
    const pick = <T>(items: readonly T[]) => items[roll(items.length)] as T;
    const data = random(roll, pick(["family", "module"]));
    const query = Array.from({ length: roll(3) }, () => pick(WORDS)).join(" ");
    const [size, within] = [pick(["", ...Object.keys(SIZES)]), pick(["", "", "module:pkg.a", "family:Net3"])];
    const [by, sign] = [pick(["parameters", "flops", "since"] as const), pick([1, -1])];
    const [least, most] = SIZES[size] ?? [-1, 1e99];
    const isIn = (at: number) => {
      const { parameters = -1 } = data.models[at] as ModelData;
      return parameters >= least && parameters < most && isFound(data, at, query);
    };
    const expected = data.families
      .filter(({ module, name }) => ["", `module:${module}`, `family:${name}`].includes(within))
      .map(({ module = "", models }) => ({
        module,
        models: models.filter(isIn).map((at) => data.models[at] as ModelData),
      }))
      .filter(({ models }) => models.length > 0)
      .sort((a, b) => {
        const [x, y] = [keyOf(a.models, by, sign), keyOf(b.models, by, sign)];
        return (data.groupBy === "module" && a.module.localeCompare(b.module)) || (x === y ? 0 : x - y);
      });
    const { names, groups } = choose(data, { query, size, in: within, sort: `${sign < 0 ? "-" : ""}${by}` });
    expect(names).toEqual(expected.map(({ models }) => models.map(({ name }) => name)));
    const heads = expected.map(({ module }) => (data.groupBy === "module" ? module : ""));
    expect(groups).toEqual([...new Set(heads)]);
  });
});

describe("what readers are told", () => {
  const models = ["resnet9", "resnet18", "relu_net"].map((name, at) => ({
    name: `v.${name}`,
    id: "",
    parameters: 1,
    uses: at % 2,
  }));
  const families = models.map(({ name }, at) => ({ name: name.slice(2), models: [at] }));
  const layers = ["GroupNorm", "ReLU"];
  const uses: CatalogueData["uses"] = [
    [[0], [0]],
    [[1], []],
  ];
  const data: CatalogueData = { groupBy: "none", layers, ops: ["softmax"], uses, families, models };

  it.each([
    ["", "3 models"],
    ["GroupNorm", "2 of 3 models use GroupNorm"],
    ["uses soft -resnet9", "1 of 3 models use softmax, without “resnet9”"],
    ["relu", "2 of 3 models match “relu” or use ReLU"],
    ["resnet uses relu", "1 of 3 models match “resnet”, use ReLU"],
    ["nothing", "0 of 3 models match “nothing”"],
    ["uses", "3 models"],
  ])("of %j: %s", (query, line) => expect(choose(data, { query }).line).toBe(line));

  it("tells of families, and of filters", () => {
    const one = { ...data, families: [{ name: "All", models: [0, 1, 2] }] };
    expect(choose(one, {}).line).toBe("3 models in 1 families");
    expect(choose(data, { in: "family:resnet9" }).line).toBe("1 of 3 models");
  });

  it("sorts numbers in names as people do", () => {
    expect(choose(data, {}).names.flat()).toEqual(["v.relu_net", "v.resnet9", "v.resnet18"]);
    expect(sortKey("1.10") > sortKey("1.9")).toBe(true);
  });

  it("reads words, uses and exclusions", () => {
    expect(termsOf(" A -b uses -C - use ").map(({ word, isUse, isExcluded }) => [word, isUse, isExcluded])).toEqual([
      ["a", false, false],
      ["b", false, true],
      ["c", true, true],
    ]);
  });

  it("gives ranges with their signs", () => {
    const of = (parameters: number, more = {}) => ({
      name: "",
      id: "",
      text: "",
      row: [],
      shortName: "",
      parameters,
      ...more,
    });
    const several = [of(25_600_000, { flops: 8e9, flopsSign: "≥" }), of(11_700_000, { flops: 3.6e9 })];
    expect([...figuresOf(several)]).toEqual([
      ["Parameters", "11.7M–25.6M"],
      ["FLOPs", "3.6 G–≥ 8 G"],
    ]);
    expect(figuresOf([of(0)]).get("Parameters")).toBe("0");
  });
});

describe("addresses", () => {
  const choice: Choice = { query: "a b&c", sort: "-flops", in: "module:x.y", size: "1B-" };

  it.each([0, 1])("say what was chosen in catalogue %i, and keep the rest", (place) => {
    const other = searchWith("?q=1&models-sort=name", 1 - place, NONE);
    const search = searchWith(`?${other}`, place, choice);
    expect(choiceIn(`?${search}`, place)).toEqual(choice);
    expect(new URLSearchParams(search).get("q")).toBe("1");
    expect(searchWith(`?${search}`, place, NONE)).toBe(searchWith(`?${other}`, place, NONE));
  });
});
