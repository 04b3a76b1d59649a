/** Shows one case in a picture, or what differs between two: parts name their cases in `data-cases`. */

interface Counts {
  /** Boxes and panels of the first case alone, of the second alone, and tensors of two sizes. */
  first: number;
  second: number;
  sizes: number;
}

type Case = { position: number };

/** @param cases all that ran @param chosen positions: none for all, one, or two that are compared */
export function paintCases(picture: SVGSVGElement, cases: readonly Case[], chosen: readonly number[]): Counts {
  const counts = { first: 0, second: 0, sizes: 0 };
  const [one, other] = chosen;
  for (const part of picture.querySelectorAll<SVGElement>("[data-cases]")) {
    const ran = new Set((part.dataset.cases ?? "").split(" ").filter(Boolean).map(Number));
    const runs = (position: number | undefined) => position !== undefined && ran.has(position);
    part.classList.toggle("mg-idle", one !== undefined && !runs(one) && !runs(other));
    const isFirst = part.classList.toggle("mg-in-first", other !== undefined && runs(one) && !runs(other));
    const isSecond = part.classList.toggle("mg-in-second", runs(other) && !runs(one));
    if (part.dataset.id === undefined) continue;
    counts.first += Number(isFirst);
    counts.second += Number(isSecond);
  }
  const at = chosen.map((position) => cases.findIndex((each) => each.position === position));
  for (const label of picture.querySelectorAll<SVGElement>("[data-sizes]")) {
    counts.sizes += Number(paintSizes(label, at));
  }
  return counts;
}

/** Shows the sizes of the chosen cases; whether there are two. */
function paintSizes(label: SVGElement, at: readonly number[]): boolean {
  const sizes = (label.dataset.sizes ?? "").split("|");
  label.dataset.all ??= label.textContent;
  const found = [...new Set(at.map((i) => sizes[i] ?? "").filter(Boolean))];
  // a name may precede the sizes
  const [first = ""] = sizes.filter(Boolean);
  const name = label.dataset.all.slice(0, Math.max(0, label.dataset.all.indexOf(first)));
  label.textContent = found.length === 0 ? label.dataset.all : name + found.join(" | ");
  return label.classList.toggle("mg-differs", found.length > 1);
}
