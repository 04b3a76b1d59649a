"""Reads a picture: what lies where, and which boxes its paths connect. Knows SVG and nothing of how it was made."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = ""
NEAR = 1.6
"""Most px between two ends that meet: coordinates are rounded in every panel, and arrowheads end before their box."""
CARDS = 8
"""Height in px of the cards below a box that stands for several."""

Point = tuple[float, float]


@dataclass
class Box:
    """A box, or an open panel."""

    x: float
    y: float
    width: float
    height: float
    is_open: bool

    def holds(self, point: Point) -> bool:
        """Whether a point lies inside or on the edge."""
        x, y = point
        return self.x - NEAR <= x <= self.x + self.width + NEAR and self.y - NEAR <= y <= self.y + self.height + NEAR


class Line(NamedTuple):
    """One line of a path, from its start to the tip of its arrow."""

    start: Point
    end: Point
    has_arrow: bool


class Port(NamedTuple):
    """Where lines cross the edge of an open panel."""

    panel: str
    number: int


@dataclass
class Drawn:
    """The content of a picture."""

    boxes: dict[str, Box] = field(default_factory=dict)
    panels: dict[str, str] = field(default_factory=dict)
    """Id of a box or panel → the panel directly around it."""
    times: dict[str, int] = field(default_factory=dict)
    """Repeat → the number on its badge."""
    series: dict[str, int] = field(default_factory=dict)
    """Box with a number that belongs to no repeat → the number."""
    counts: dict[str, int] = field(default_factory=dict)
    """Box → how many nodes it says it stands for."""
    ways: list[tuple[str | Port, str | Port, str]] = field(default_factory=list)
    """What the lines connect, and what flows there."""
    loops: set[str] = field(default_factory=set)
    """Repeats that are a loop."""
    faults: list[str] = field(default_factory=list)
    """Lines that do not end where they claim to."""
    _ports: dict[str, list[Point]] = field(default_factory=lambda: defaultdict(list))

    def port(self, panel: str, point: Point) -> Port:
        """The port of a panel at a point."""
        known = self._ports[panel]
        for number, (x, y) in enumerate(known):
            if abs(x - point[0]) < NEAR and abs(y - point[1]) < NEAR:
                return Port(panel, number)
        known.append(point)
        return Port(panel, len(known) - 1)

    def connections(self) -> set[tuple[str, str, str]]:
        """Pairs of boxes that lines connect, also across edges of panels, and what flows: the weakest on the way."""
        onward = defaultdict(list)
        for source, target, flow in self.ways:
            onward[source].append((target, flow))
        found = set()
        for source, target, flow in self.ways:
            if isinstance(source, Port):
                continue
            pending, seen = [(target, flow)], set()
            while pending:
                at, so_far = pending.pop()
                if (at, so_far) in seen:
                    continue
                seen.add((at, so_far))
                if isinstance(at, Port):
                    pending += [(after, weaker(so_far, own)) for after, own in onward[at]]
                else:
                    found.add((source, at, so_far))
        return found

    def loose_ends(self) -> set[Port]:
        """Ports that lines only lead to, or only come from."""
        left = {source for source, _, _ in self.ways if isinstance(source, Port)}
        reached = {target for _, target, _ in self.ways if isinstance(target, Port)}
        return left ^ reached


FLOWS = ("return", "shape", "inferred", "data")
"""From the weakest; a return leads to the next step of a loop."""


def weaker(one: str, other: str) -> str:
    """The flow of a way with two parts."""
    return min(one, other, key=FLOWS.index)


def read(svg: str) -> Drawn:
    """Read a picture."""
    drawn = Drawn()
    root = _root(svg)
    _, _, width, height = map(float, root.get("viewBox", "").split())
    drawn.boxes[ROOT] = Box(0, 0, width, height, is_open=True)
    frames: list[tuple[ET.Element, str, Point]] = [(root, ROOT, (0, 0))]
    for element, panel, origin in frames:
        frames += _read_items(drawn, element, panel, origin)
    for element, panel, origin in frames:
        for path in _paths(element):
            _read_path(drawn, path, panel, origin)
    return drawn


def _root(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314  (our own)


def _classes(element: ET.Element) -> set[str]:
    return set(element.get("class", "").split())


def _children(element: ET.Element, name: str) -> Iterator[ET.Element]:
    return (child for child in element if name in _classes(child))


def _read_items(drawn: Drawn, element: ET.Element, panel: str, origin: Point) -> list[tuple[ET.Element, str, Point]]:
    """The boxes of a panel; returns the panels inside."""
    opened = []
    for child in element:
        name = child.get("data-id")
        if name is None:
            continue
        x, y = map(float, re.findall(r"-?[\d.]+", child.get("transform", "")))
        at = (origin[0] + x, origin[1] + y)
        is_open = "mg-expanded" in _classes(child)
        drawn.boxes[name] = Box(*at, *_size(child), is_open=is_open)
        drawn.panels[name] = panel
        _read_badge(drawn, name, child)
        drawn.counts[name] = _count(child)
        if is_open:
            opened.append((child, name, at))
    return opened


def _size(item: ET.Element) -> tuple[float, float]:
    shape = next(child for child in item if _classes(child) & {"mg-box", "mg-panel"})
    if shape.get("r"):
        return 2 * float(shape.get("cx", "")), 2 * float(shape.get("cy", ""))
    edge = 2 * float(shape.get("x", "0"))
    below = CARDS * any("mg-cards" in _classes(child) for child in item)
    return float(shape.get("width", "")) + edge, float(shape.get("height", "")) + edge + below


def _count(item: ET.Element) -> int:
    """How many nodes a box says it stands for: the sum of `… 12 ops, 2 weights`, the parts of `Conv2d 3 → 8 · BN`."""
    parts = [item, *_children(item, "mg-header")]
    name, detail = (
        " ".join("".join(text.itertext()) for part in parts for text in _children(part, kind))
        for kind in ("mg-name", "mg-detail")
    )
    if name.startswith("…"):
        return sum(int(number) for number in re.findall(r"(\d+) [a-z]", name))
    if name == "stem":
        return sum(int(times or 1) for times in re.findall(r"[^,]+?(?:×(\d+))?(?:,|$)", detail))
    return detail.count("·") + 1


def _read_badge(drawn: Drawn, name: str, item: ET.Element) -> None:
    headers = [item, *_children(item, "mg-header")]
    for badge in (badge for header in headers for badge in _children(header, "mg-repeat")):
        if "mg-unrolled" in _classes(badge):
            continue
        number = int("".join(badge.itertext()).strip().removeprefix("×"))
        run = badge.get("data-run")
        if run is None:
            drawn.series[name] = number
        else:
            drawn.times[run] = number
            if any("mg-strokes" in _classes(part) for part in badge):
                drawn.loops.add(run)


def runs(svg: str) -> set[str]:
    """The repeats of a picture, rolled or not."""
    return {run for badge in _root(svg).iter() if (run := badge.get("data-run")) is not None}


# -- lines ------------------------------------------------------------------------------------------------------------


def _paths(element: ET.Element) -> Iterator[ET.Element]:
    return (path for group in _children(element, "mg-edges") for path in _children(group, "mg-edge"))


def _read_path(drawn: Drawn, path: ET.Element, panel: str, origin: Point) -> None:
    classes = _classes(path)
    flow = next((flow for flow in FLOWS if f"mg-flow-{flow}" in classes), "data")
    start, ends = path.get("data-from", ""), path.get("data-to", "")
    inside = [name for name, around in drawn.panels.items() if around == panel]
    targets = [name for name in [*inside, panel] if f" {name} " in f" {ends} "]
    for line in _lines(path.get("d", ""), origin):
        source = _source(drawn, start, line)
        target = _target(drawn, targets, panel, line)
        if source is None or target is None:
            drawn.faults.append(f"a line of {start!r} → {ends!r} in {panel!r} is not drawn there: {line}")
        else:
            drawn.ways.append((source, target, flow))


def _source(drawn: Drawn, name: str, line: Line) -> str | Port | None:
    box = drawn.boxes.get(name)
    if box is None or not box.holds(line.start):
        return None
    return drawn.port(name, line.start) if box.is_open else name


def _target(drawn: Drawn, names: list[str], panel: str, line: Line) -> str | Port | None:
    """Arrows end at boxes, other lines at the edge of a panel: of one inside or, last, of the one around."""
    for name in names:
        box = drawn.boxes[name]
        if box.is_open != line.has_arrow and box.holds(line.end) and (name != panel or len(names) == 1):
            return drawn.port(name, line.end) if box.is_open else name
    return drawn.port(panel, line.end) if panel in names and not line.has_arrow else None


def _lines(d: str, origin: Point) -> list[Line]:
    found: list[Line] = []
    for part in d.split("M")[1:]:
        points = [tuple(map(float, pair)) for pair in re.findall(r"(-?[\d.]+) (-?[\d.]+)", part)]
        moved = [(x + origin[0], y + origin[1]) for x, y in points]
        # an arrowhead is a line of its own, with the tip in the middle
        if len(moved) == 3 and "Q" not in part and found and moved[1] == found[-1].end:
            found[-1] = found[-1]._replace(has_arrow=True)
        else:
            found.append(Line(moved[0], moved[-1], has_arrow=False))
    return found
