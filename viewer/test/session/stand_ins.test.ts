import { expect, it } from "vitest";
import { Session } from "../../src/session/session.js";
import { standIns } from "../../src/session/stand_ins.js";
import { sketch } from "../sketch.js";

const CLASSES = Object.fromEntries(
  [0, 1, 2].flatMap((n) => [
    [`h.${n}`, "Block"],
    [`h.${n}.attn`, "Attention"],
    [`h.${n}.mlp`, "MLP"],
  ]),
);
const graph = sketch(`x > ${[0, 1, 2].map((n) => `h.${n}.attn/softmax > h.${n}.mlp/gelu`).join(" > ")} > y`, CLASSES);
const ids = [0, 1, 2].map((n) => `h.${n}.attn/softmax`);

it("are in the first of the repeats that are shown as one", () => {
  const session = new Session({ graph, state: { expanded: [], unrolled: [], direction: "TB" } });
  expect(standIns(session, ids)).toEqual(["h.0.attn/softmax"]);
});

it("are the nodes themselves where repeats are shown one by one", () => {
  const session = new Session({ graph, state: { expanded: [], unrolled: ["h.0"], direction: "TB" } });
  expect(standIns(session, ids)).toEqual(ids);
});
