/** Shows one case in a picture, or what differs between two: parts name their cases in `data-cases`. */

interface Counts {
  /** Boxes, panels and lettered edges of the first case alone, of the second alone, and tensors of two sizes. */
  first: number;
  second: number;
  sizes: number;
}

type Case = { position: number };

/** @param cases all that ran @param chosen positions: none for all, one, or two that are compared */
export function paintCases(picture: SVGSVGElement, cases: readonly Case[], chosen: readonly number[]): Counts {
  const counts = { first: 0, second: 0, sizes: 0 };
  const [one, other] = chosen;
  for (const part of picture.querySelectorAll<SVGElement>("[data-cases], [data-hidden]")) {
    const { cases: own, hidden } = part.dataset;
    const ran = setOf(own);
    const inside = hidden?.split("|").map(setOf) ?? [];
    part.classList.toggle("mg-idle", own !== undefined && one !== undefined && !ran(one) && !ran(other));
    const isOnly = (mine: number | undefined, others: number | undefined, kind: string) => {
      const isOwn = (runs: typeof ran) => other !== undefined && runs(mine) && !runs(others);
      const isWhole = part.classList.toggle(`mg-in-${kind}`, own !== undefined && isOwn(ran));
      const isPart = part.classList.toggle(`mg-part-${kind}`, !isWhole && inside.some(isOwn));
      return isWhole || isPart;
    };
    const [isFirst, isSecond] = [isOnly(one, other, "first"), isOnly(other, one, "second")];
    // an edge counts by its letters: others end at a box that counts
    if (part.dataset.id === undefined && !part.classList.contains("mg-letters")) continue;
    counts.first += Number(isFirst);
    counts.second += Number(isSecond);
  }
  const at = chosen.map((position) => cases.findIndex((each) => each.position === position));
  for (const label of picture.querySelectorAll<SVGElement>("[data-sizes]")) {
    const isDifferent = paintSizes(label, at);
    counts.sizes += Number(isDifferent && label.classList.contains("mg-label"));
  }
  return counts;
}

/** Whether a position is among those in a text. */
function setOf(text = ""): (position: number | undefined) => boolean {
  const positions = new Set(text.split(" ").filter(Boolean).map(Number));
  return (position) => position !== undefined && positions.has(position);
}

/** Shows the sizes, or numbers of repeats, of the chosen cases; whether there are two. */
function paintSizes(label: SVGElement, at: readonly number[]): boolean {
  const sizes = (label.dataset.sizes ?? "").split("|");
  label.dataset.all ??= label.textContent;
  const distinct = (some: readonly string[]) => [...new Set(some.filter(Boolean))];
  const found = distinct(at.map((i) => sizes[i] ?? ""));
  // a name may precede the sizes
  const [first = ""] = sizes.filter(Boolean);
  const name = label.dataset.all.slice(0, Math.max(0, label.dataset.all.indexOf(first)));
  const isAll = found.length === 0 || (found.length > 1 && found.length === distinct(sizes).length);
  label.textContent = isAll ? label.dataset.all : name + found.join(" | ");
  return label.classList.toggle("mg-differs", found.length > 1);
}
