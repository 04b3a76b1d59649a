/** Details of ways: which sides of the branches in a module's code the pass took, and which modules it left out. */
import type { GraphIndex, GraphNode, Way } from "../graph/graph.js";
import { shortName } from "../graph/names.js";
import { exact } from "../shared/amounts.js";
import { words } from "../shared/explore_strings.js";
import { fill } from "../shared/strings.js";
import { decisionText, isSeen } from "../view/labels/way_words.js";
import type { Detail } from "./naming.js";

/** The facts about a module, an op that decides, or the model if there is no node. */
export function wayFacts(index: GraphIndex, node: GraphNode | undefined): Detail[] {
  const { ways = [] } = index.graph;
  const own = node === undefined ? ways : node.kind === "module" ? ways.filter((way) => runsIn(way, node.class)) : [];
  const left = own.flatMap(({ sides, ...way }) =>
    sides.flatMap((side) => (isSeen(index.graph, side) ? [] : [{ way, side }])),
  );
  const sides = own.flatMap((way) => way.sides).length;
  return [
    { label: "decides", lines: node === undefined ? [] : decisionText(index, node.id) },
    {
      label: "ways",
      lines: [
        ...(sides === 0 ? [] : [fill(words.waysTaken, sides - left.length, sides)]),
        ...left.map(({ way, side }) => notTaken(way, side.name)),
      ],
      places: ["", ...left.map(({ way }) => way.source)],
    },
    { label: "uncalled", lines: uncalledIn(index, node) },
  ];
}

function runsIn({ classes = [] }: Way, name: string): boolean {
  return classes.includes(name);
}

function notTaken({ statement, condition, waits_for }: Omit<Way, "sides">, side: string): string {
  const keyword = statement === "expression" ? "if" : statement;
  const isPlain = side === "yes";
  const text = isPlain ? `${keyword} ${condition}` : `${keyword} ${condition}: ${side}`;
  return fill(words.notTaken, text, words[`waits_${waits_for}`]);
}

function uncalledIn({ graph }: GraphIndex, node: GraphNode | undefined): string[] {
  const path = node?.kind === "module" ? `${node.path}.` : "";
  if (node !== undefined && path === "") return [];
  return (graph.uncalled ?? [])
    .filter((module) => module.path.startsWith(path))
    .map((module) => {
      const weights = module.parameters.total;
      const count = weights === 0 ? "" : ` · ${exact(weights)} ${words.parameters.toLowerCase()}`;
      return `${module.path}: ${shortName(module.class)}${count}`;
    });
}
