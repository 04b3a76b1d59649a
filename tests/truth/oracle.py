"""An oracle for pictures: every data dependency between two visible boxes is a drawn path, and every path is one.

It reads the SVG and the graph's JSON and shares no code with the viewer. What it holds a picture to:

- A node belongs to the innermost drawn box around it. Nodes of later repeats belong where their counterpart of the
  first repeat does.
- A node without a box, even when all is open, is hidden plumbing: what passes only through such nodes goes directly.
- ``×n`` says that each repeat feeds the next in the same way, and that the last one feeds what follows, or each feeds
  one list. Anything else between or after repeats is untrue.
- A bundle ("… 214 ops") stands for as many neighbours as it says, and nodes in it belong to it as to a module.
- Where repeats are a loop, what each step hands to the next is drawn, too: as a return.

Long because it is one argument, and imports nothing of what it checks.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from truth.drawn import FLOWS, ROOT, Drawn, read, weaker

Json = dict[str, Any]


GROUPS = {"module", "function"}
"""Kinds of nodes that contain others."""


def _around(graph: Json, scope: str | None) -> Iterable[str]:
    """The calls of functions around a node in its module, the innermost first."""
    while scope in graph.get("functions", {}):
        yield scope
        scope = graph["functions"][scope].get("parent")


class Use(NamedTuple):
    """A node that reads what another made, directly or through hidden nodes."""

    source: str
    target: str
    argument: str
    flow: str


class Trace:
    """A graph's JSON, with what the oracle asks of it.

    Args:
        graph: The JSON.
        functions: The calls of functions that are boxes when all is open; the others leave what is in them to what is
            around them.
        groups: Those of an overlay: id, name, and ids of members. What is in several members becomes their content.
    """

    def __init__(self, graph: Json, functions: Iterable[str] = (), groups: Iterable[Json] = ()):
        shown = set(functions)
        calls: dict[str, Json] = {name: call for name, call in graph.get("functions", {}).items() if name in shown}
        self.nodes: dict[str, Json] = {}
        self.parent: dict[str, str] = {}
        for node in graph["nodes"]:
            around = [name for name in _around(graph, node.get("scope")) if name in calls]
            parents = [*around, graph["hierarchy"][node["id"]] or ROOT]
            for i in reversed(range(len(around))):
                self.nodes.setdefault(around[i], {**calls[around[i]], "kind": "function"})
                self.parent.setdefault(around[i], parents[i + 1])
            self.nodes[node["id"]] = node
            self.parent[node["id"]] = parents[0]
        for group in groups:
            self._enclose(group, graph)
        self.order = {name: i for i, name in enumerate(self.nodes)}
        self.edges: dict[str, list[Json]] = graph["adjacency"]
        self._aligned: dict[tuple[str, str], dict[str, str]] = {}

    def _enclose(self, group: Json, graph: Json) -> None:
        """Put a group around its members; a call of a function without a box stands for what is in it."""
        scopes = {node["id"]: [*_around(graph, node.get("scope"))] for node in graph["nodes"]}
        members = {
            name
            for member in group["nodes"]
            for name in ([member] if member in self.nodes else [one for one in scopes if member in scopes[one]])
        }
        chains = [self.inwards(name)[:-1] for name in members]
        common = [around for around in chains[0] if all(around in chain for chain in chains)][-1:] or [ROOT]
        inside: dict[str, set[str]] = defaultdict(set)
        for name in self.nodes:
            for around in self.inwards(name)[:-1]:
                inside[around].add(name)
        for name in members:
            between = [around for around in self.inwards(name)[:-1] if around not in self.inwards(common[0])]
            top = (
                between[0] if common[0] != ROOT and between else (self.inwards(name)[0] if common[0] == ROOT else name)
            )
            held = {one for member in members for one in {member, *inside[member]}}
            moved = top if inside[top] <= held | {top} else name
            self.parent[moved] = group["id"]
        self.nodes[group["id"]] = {"kind": "function", "name": group["name"], "id": group["id"]}
        self.parent[group["id"]] = common[0]

    def inwards(self, name: str) -> list[str]:
        """A node after all modules around it, the outermost first."""
        chain = [name]
        while self.parent[chain[-1]] != ROOT:
            chain.append(self.parent[chain[-1]])
        return chain[::-1]

    @cached_property
    def _inside(self) -> dict[str, list[str]]:
        inside: dict[str, list[str]] = defaultdict(list)
        for name in self.nodes:
            for around in self.inwards(name):
                inside[around].append(name)
        return inside

    def kind(self, name: str) -> str:
        """What a node is: a class, the name of an op."""
        node = self.nodes[name]
        return f"{node['kind']} {node.get('class') or (node['kind'] in {'op', 'function'} and node['name'])}"

    def aligned(self, later: str, first: str) -> dict[str, str]:
        """Nodes in one repeat → their counterparts in another."""
        key = (later, first)
        if key not in self._aligned:
            one, other = self._inside[later], self._inside[first]
            if later in self.nodes and self.nodes[later]["kind"] not in GROUPS:
                pairs = [(later, first)]
            else:
                pairs = list(_matching(one, other, self.kind))
            self._aligned[key] = dict(pairs)
        return self._aligned[key]

    def uses(self, hidden: set[str], *, shapes: bool) -> list[Use]:
        """All dependencies between nodes that are not hidden; without `shapes`, only those of values."""
        found = set()
        for source in self.nodes.keys() - hidden:
            pending, seen = [(source, "data")], set()
            while pending:
                at, so_far = pending.pop()
                for edge in self.edges.get(at, ()):
                    own = edge.get("flow", "data")
                    if own == "shape" and not shapes:
                        if not self._writes(edge["to"]):
                            continue
                        own = "data"
                    flow = weaker(so_far, own)
                    if edge["to"] not in hidden:
                        found.add(Use(source, edge["to"], edge.get("argument", ""), flow))
                    elif (edge["to"], flow) not in seen:
                        seen.add((edge["to"], flow))
                        pending.append((edge["to"], flow))
        return sorted(found)

    def _writes(self, name: str) -> bool:
        """Whether a node overwrites what it is given, for later readers."""
        op = self.nodes[name].get("name", "")
        return op.endswith("_") and not op.endswith("__") and bool(self.edges.get(name))


def _matching(one: list[str], other: list[str], kind: Any) -> Iterable[tuple[str, str]]:
    kinds = [[kind(name) for name in names] for names in (one, other)]
    if kinds[0] == kinds[1]:
        return zip(one, other, strict=True)
    blocks = difflib.SequenceMatcher(None, *kinds, autojunk=False).get_matching_blocks()
    return [(one[a + i], other[b + i]) for a, b, size in blocks for i in range(size)]


Repeats = dict[str, int]
"""Rolled repeat → which one a node belongs to."""


class Place(NamedTuple):
    """Where a node is in a picture."""

    node: str
    """Its counterpart in the first repeat of every rolled run."""
    box: str | None
    """None: nothing is drawn for it."""
    repeats: Repeats

    @property
    def reader(self) -> str | None:
        """What reads there: the node, or the series of outputs that it is one of."""
        return self.box if self.node.startswith("output:") else self.node


class Picture:
    """A picture of a graph."""

    def __init__(
        self,
        trace: Trace,
        svg: str,
        rolled: Mapping[str, Sequence[str]],
        bundled: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ):
        self.trace = trace
        self.drawn: Drawn = read(svg)
        self.bundled = {name: members for name, members in bundled.items() if name in self.drawn.boxes}
        # layers in one box are members of a run as one
        self.rolled = {
            run: [one for member in members for one in bundled.get(member, [member])] for run, members in rolled.items()
        }
        self._positions: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
        # a repeat of several blocks may hold repeats of one
        for run in sorted(self.rolled, key=self.period, reverse=True):
            for i, member in enumerate(self.rolled[run]):
                self._positions[member].append((run, *divmod(i, self.period(run))))
        self._places: dict[str, Place] = {}

    def period(self, run: str) -> int:
        """Number of children in each repeat."""
        return max(1, len(self.rolled[run]) // self.drawn.times.get(run, 1))

    def place(self, name: str) -> Place:
        """Where a node is."""
        if name not in self._places:
            self._places[name] = self._find(name)
        return self._places[name]

    def _find(self, name: str) -> Place:
        repeats: Repeats = {}
        at: str | None = name
        while at is not None:
            later = self._later(at, repeats)
            if later is None:
                return Place(at, self._box(at), repeats)
            around, first = later
            at = self.trace.aligned(around, first).get(at)
        return Place(name, None, repeats)

    def _later(self, name: str, repeats: Repeats) -> tuple[str, str] | None:
        """The outermost member of a later repeat around a node, and its counterpart in the first."""
        for around in self.trace.inwards(name):
            for run, which, place in self._positions[around]:
                repeats.setdefault(run, which)
                if which > 0:
                    return around, self.rolled[run][place]
        return None

    def _box(self, name: str) -> str | None:
        for around in self.trace.inwards(name)[::-1]:
            box = around if around in self.drawn.boxes else self._bundle(around)
            if box is not None:
                return None if self.drawn.boxes[box].is_open else box
        return self._leader(name)

    def _bundle(self, name: str) -> str | None:
        """The innermost bundle with a node or module."""
        around = [bundle for bundle, members in self.bundled.items() if name in members]
        return min(around, key=lambda bundle: len(self.bundled[bundle]), default=None)

    def _leader(self, name: str) -> str | None:
        """The box of a series of inputs or outputs that a node is one of."""
        kind, stem = self.trace.nodes[name]["kind"], _stem(self.trace.nodes[name])
        if kind not in {"input", "output"}:
            return None
        for leader in {*self.drawn.series, *(one for members in self.bundled.values() for one in members)}:
            node = self.trace.nodes.get(leader, {"kind": ""})
            if node["kind"] == kind and _stem(node) == stem:
                return self._box(leader)
        return None

    def hidden(self) -> set[str]:
        """Nodes without a box, apart from modules and calls of functions."""
        nodes = self.trace.nodes
        return {name for name in nodes if nodes[name]["kind"] not in GROUPS and not self._shows(name)}

    def _shows(self, name: str) -> bool:
        return self.place(name).box is not None


def _stem(node: Json) -> str:
    return re.split(r"[.\[]", node["name"], maxsplit=1)[0]


@dataclass
class Verdict:
    """What is untrue in a picture."""

    missing: set[tuple[str, str, str]] = field(default_factory=set)
    """Dependencies that are not drawn."""
    invented: set[tuple[str, str, str]] = field(default_factory=set)
    """Drawn paths without a dependency."""
    rolled: list[str] = field(default_factory=list)
    """What ``×n`` says and is not so."""
    drawn: list[str] = field(default_factory=list)
    """Lines that don't begin or end where they say."""

    def __bool__(self) -> bool:
        return bool(self.missing or self.invented or self.rolled or self.drawn)


def judge(picture: Picture, hidden: set[str], *, shapes: bool) -> Verdict:
    """Compare a picture with its graph.

    Args:
        picture: The picture.
        hidden: Nodes without a box when all is open.
        shapes: Whether the picture shows where only shapes flow.
    """
    claims = Claims(picture)
    expected: dict[tuple[str, str], set[str]] = defaultdict(set)
    for use in picture.trace.uses(hidden, shapes=shapes):
        source, target = picture.place(use.source), picture.place(use.target)
        if source.box is None or target.box is None:
            claims.faults.append(f"{use.source if source.box is None else use.target} has no box")
        elif not claims.covers(use, source, target) and source.box != target.box:
            expected[source.box, target.box].add(use.flow)
    drawn: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one, other, flow in picture.drawn.connections():
        drawn[one, other].add(flow)
    for ends in claims.handed(in_loops=True):
        expected[ends].add("return")
    verdict = Verdict(rolled=claims.verdict(), drawn=[*picture.drawn.faults, *map(str, picture.drawn.loose_ends())])
    # where values flow, a shape may go the same way
    needed = {ends: {max(flows, key=FLOWS.index), *flows & {"return"}} for ends, flows in expected.items()}
    verdict.missing = {(*ends, flow) for ends, flows in needed.items() for flow in flows - drawn[ends]}
    invented = {(*ends, flow) for ends, flows in drawn.items() for flow in flows - expected[ends]}
    verdict.invented = invented - {(*ends, "return") for ends in claims.handed(in_loops=False)}
    return verdict


class Claims:
    """What the rolled repeats of a picture claim."""

    def __init__(self, picture: Picture):
        self.picture = picture
        self.faults: list[str] = []
        self._between: dict[tuple[Any, ...], set[tuple[int, int]]] = defaultdict(set)
        self._exits: dict[tuple[Any, ...], set[int]] = defaultdict(set)

    def covers(self, use: Use, source: Place, target: Place) -> bool:
        """Whether a dependency is one between repeats, which a badge implies. Notes what leaves repeats."""
        shared = [run for run in source.repeats if run in target.repeats]
        apart = next((run for run in shared if source.repeats[run] != target.repeats[run]), None)
        for run, which in source.repeats.items():
            if run not in shared or (apart is not None and shared.index(run) > shared.index(apart)):
                self._exits[run, self._outer(source, run), source.node, target.reader, _list(use.argument)].add(which)
        if apart is None:
            return False
        ends = (source.repeats[apart], target.repeats[apart])
        self._between[apart, self._outer(source, apart), source.box, target.box].add(ends)
        return True

    def _outer(self, place: Place, run: str) -> tuple[int, ...]:
        """Which repeats of outer runs a place in a run is in."""
        names = list(place.repeats)
        return tuple(place.repeats[outer] for outer in names[: names.index(run)])

    def handed(self, *, in_loops: bool) -> set[tuple[str, str]]:
        """What repeats hand to the next: those of loops must show it, others may."""
        return {
            (one, other)
            for run, _, one, other in self._between
            if (run in self.picture.drawn.loops) == in_loops and None not in (one, other)
        }

    def verdict(self) -> list[str]:
        """What is not as claimed."""
        found = [fault for run in self.picture.rolled for fault in self._malformed(run)]
        found += [fault for name in self.picture.bundled for fault in self._misbundled(name)]
        for (run, _, one, other), ends in sorted(self._between.items(), key=str):
            times = self.picture.drawn.times.get(run, 1)
            if ends != {(i, i + 1) for i in range(times - 1)}:
                found.append(f"×{times} of {run}: {one} → {other} only between repeats {sorted(ends)}")
        for (run, _, one, other, _), repeats in sorted(self._exits.items(), key=str):
            times = self.picture.drawn.times.get(run, 1)
            if repeats != {times - 1} and repeats != set(range(times)):
                found.append(f"×{times} of {run}: {one} → {other} from repeats {sorted(repeats)}")
        return self.faults + found

    def _malformed(self, run: str) -> list[str]:
        """Members of a run must be equal siblings in the order of their execution."""
        trace, members = self.picture.trace, self.picture.rolled[run]
        times, period = self.picture.drawn.times.get(run, 0), self.picture.period(run)
        kinds = [trace.kind(member) for member in members]
        checks = {
            "is no whole number of repeats": len(members) == times * period,
            "are not siblings": len({trace.parent[member] for member in members}) == 1,
            "are out of order": members == sorted(members, key=trace.order.__getitem__),
            "differ in kind": all(kind == kinds[i % period] for i, kind in enumerate(kinds)),
        }
        return [f"members of {run} {fault}" for fault, holds in checks.items() if not holds]

    def _misbundled(self, name: str) -> list[str]:
        """Members of a bundle must be siblings in the order of their execution, and as many as it says."""
        trace, members = self.picture.trace, [*self.picture.bundled[name]]
        executed = [member for member in members if trace.nodes[member]["kind"] in {"op", "module"}]
        checks = {
            "are not siblings": len({trace.parent[member] for member in members}) == 1,
            "are out of order": executed == sorted(executed, key=trace.order.__getitem__),
            "are not as many as it says": self.picture.drawn.counts.get(name) == len(members),
        }
        return [f"members of {name} {fault}" for fault, holds in checks.items() if not holds]


def _list(argument: str) -> str:
    """The argument without the position in a list."""
    return re.sub(r"\[\d+\]", "", argument)
