import { expect, it } from "vitest";
import { stepPicture } from "../../src/draw/step_picture.js";
import type { SessionState } from "../../src/session/diagram_data.js";
import { Session } from "../../src/session/session.js";
import { drawnIn, type StepOptions, stepOf, unfound } from "../../src/session/steps.js";
import { sketch } from "../sketch.js";

const COLLAPSED: SessionState = { expanded: [], unrolled: [], direction: "TB" };
const graph = sketch("x > enc.att/softmax > enc.att/mul > enc/relu > head/linear > head/add > y", {
  enc: "Encoder",
  "enc.att": "Attention",
  head: "Head",
});
const repeated = sketch(["x", ...[..."0123"].flatMap((i) => [`b.${i}/norm`, `b.${i}/mul`]), "y"].join(" > "), {
  "b.0": "Block",
  "b.1": "Block",
  "b.2": "Block",
  "b.3": "Block",
});

function made(options: StepOptions, data = graph) {
  return stepOf(new Session({ graph: data, state: COLLAPSED }), options, null);
}

it("opens what a step names, with all around it", () => {
  expect(made({ open: ["Attention"] }).step.state.expanded).toEqual(["enc", "enc.att"]);
});

it("shows what is in focus, though the modules around it are closed", () => {
  const { step } = made({ focus: ["enc.att"] });
  expect(step).toMatchObject({ focus: ["enc.att"], lit: [], lens: null, state: { expanded: ["enc"] } });
});

it("finds ops by their names", () => {
  expect(made({ highlight: ["torch.softmax"] }).step.state.expanded).toEqual(["enc", "enc.att"]);
  expect(made({ highlight: ["softmax"] }).step.lit).toHaveLength(1);
});

it("finds ops by patterns of their ids, as groups do", () => {
  expect(made({ highlight: ["enc.*/soft*"] }).step.lit).toEqual(made({ highlight: ["softmax"] }).step.lit);
  expect(made({ open: ["enc.att"], highlight: ["enc.*/*"] }).step.lit).toHaveLength(2);
});

it("lights those of many repeats that are visible, and unrolls none", () => {
  const { step } = made({ highlight: ["Block"] }, repeated);
  expect(step.lit).toEqual(["b.0"]);
  expect(step.state.unrolled).toEqual([]);
});

it("unrolls repeats to show a later one", () => {
  expect(made({ focus: ["b.2"] }, repeated).step.focus).toEqual(["b.2"]);
});

it("shows a module alone", () => {
  expect(made({ alone: "enc" }).step.state.root).toBe("enc");
});

it("steps don't build on each other", () => {
  const session = new Session({ graph, state: COLLAPSED });
  stepOf(session, { open: ["enc"], alone: "enc" }, null);
  expect(stepOf(session, {}, null).step.state).toEqual({ ...COLLAPSED, root: undefined });
});

it("tells which patterns find nothing", () => {
  const session = new Session({ graph, state: COLLAPSED });
  expect(unfound(session, { open: ["enc"], alone: "nothing" })).toEqual({
    option: "alone",
    patterns: ["nothing"],
    hidden: false,
  });
  expect(unfound(session, { open: ["enc"], focus: ["*.att", "nope"] })).toEqual({
    option: "focus",
    patterns: ["nope"],
    hidden: false,
  });
  expect(unfound(session, { open: ["enc"] })).toBeNull();
});

it("tells which patterns find only what the author hides", () => {
  const session = new Session({ graph: { ...graph, annotations: { "enc.att": { hide: true } } }, state: COLLAPSED });
  const told = { patterns: ["softmax"], hidden: true };
  expect(unfound(session, { open: ["enc"], focus: ["softmax"] })).toEqual({ option: "focus", ...told });
  expect(unfound(session, { highlight: ["enc", "softmax"] })).toEqual({ option: "highlight", ...told });
  expect(unfound(session, { alone: "enc.att" })).toEqual({ option: "alone", patterns: ["enc.att"], hidden: true });
  expect(unfound(session, { focus: ["softmax", "nope"] })).toEqual({
    option: "focus",
    patterns: ["nope"],
    hidden: false,
  });
  expect(unfound(session, { focus: ["enc*"] })).toBeNull();
});

it("fades what a step is not about", () => {
  const { step, layout } = made({ open: ["enc"], highlight: ["enc"] });
  const svg = stepPicture(layout, { ...step, boxes: drawnIn(layout.root) }).svg;
  const faded = [...svg.matchAll(/<g opacity="0.35"><g [^>]*data-id="([^"]*)"/g)].map(([, id]) => id);
  expect(faded).toEqual(expect.arrayContaining(["head", "input:x"]));
  expect(faded.filter((id) => id?.startsWith("enc"))).toEqual([]);
});

it("shows the part of a large picture that is in focus", () => {
  const chain = sketch(["x", ..."abcdefghijklmnop", "y"].join(" > "));
  const { step, layout } = made({ focus: [chain.nodes[5]?.id ?? ""] }, chain);
  const boxes = drawnIn(layout.root);
  const drawn = stepPicture(layout, { ...step, boxes });
  const [x, y, width, height] = (/viewBox="([^"]*)"/.exec(drawn.svg)?.[1] ?? "").split(" ").map(Number) as [
    number,
    number,
    number,
    number,
  ];
  const box = boxes.get(step.focus[0] ?? "");
  expect(box).toBeDefined();
  expect(height).toBeLessThan(layout.height / 2);
  expect(drawn).toMatchObject({ width, height });
  expect([x, y]).toEqual([expect.any(Number), expect.any(Number)]);
  expect(box && box.y > y && box.y + box.height < y + height).toBe(true);
  // a frame tells that there is more
  const frame = `<rect class="mg-cards" x="${x + 0.5}" y="${y + 0.5}" width="${width - 1}" height="${height - 1}"`;
  expect(drawn.svg).toContain(frame);
  expect(stepPicture(layout, { boxes, lit: [], focus: [] }).svg).not.toContain('<rect class="mg-cards" x="0.5"');
});
