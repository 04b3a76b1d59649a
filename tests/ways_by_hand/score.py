"""Compares the sides that a graph says its pass did not take with those that a person read."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import torch

from modeldiagrams import trace
from modeldiagrams.ir.graph import Graph
from ways_by_hand import exits_and_phases as exits
from ways_by_hand import expressions_and_returns as expressions
from ways_by_hand import helpers_and_settings as helpers
from ways_by_hand import routing_and_loops as routing
from ways_by_hand import transformers_models, vision_models
from ways_by_hand.reading import Reading, Unseen

READINGS = tuple(
    reading
    for module in (exits, routing, expressions, helpers, transformers_models, vision_models)
    for reading in module.READINGS
)
_INNER = re.compile(r"\.<\w+>")
"""How Python marks functions inside others, and expressions with a frame of their own: names are compared without."""


class Untaken(NamedTuple):
    """A side that the graph says was not taken."""

    function: str
    condition: str
    side: str
    waits_for: str
    place: str

    def is_of(self, unseen: Unseen) -> bool:
        """Whether this is the side that a person read."""
        beginning = unseen.condition.removesuffix("…")
        fits = self.condition.startswith(beginning) if beginning != unseen.condition else self.condition == beginning
        return fits and (self.function, self.side) == (_INNER.sub("", unseen.function), unseen.side)


@dataclass
class Score:
    """How graphs did on one model, or on several."""

    name: str
    found: int = 0
    missed: list[str] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)
    other_kinds: list[str] = field(default_factory=list)
    """Found, but said to wait for something else."""

    def shares(self) -> tuple[float, float, float]:
        """Recall, precision, and right kinds of those found."""
        read, said = self.found + len(self.missed), self.found + len(self.invented)
        right = self.found - len(self.other_kinds)
        return self.found / max(read, 1), self.found / max(said, 1), right / max(self.found, 1)

    def tell(self, say: Callable[[str], object]) -> None:
        """Say how it went, and every difference."""
        shares = " ".join(f"{share:7.1%}" for share in self.shares())
        say(f"{self.name:48}{shares}  of {self.found + len(self.missed)}, {len(self.invented)} invented")
        for word, texts in (("missed", self.missed), ("invented", self.invented), ("kind", self.other_kinds)):
            for text in texts:
                say(f"    {word:10}{text}")


def score(reading: Reading) -> Score:
    """Trace a model as a person read it."""
    torch.manual_seed(0)
    graph = trace(*reading.prepared(), mode="real")
    if graph.status.state != "complete":
        raise RuntimeError(f"{reading.name}: expected a complete pass, got {graph.status.error}")
    return compare(reading, graph)


def compare(reading: Reading, graph: Graph) -> Score:
    """Match what was read and what the graph says, one to one; open sides only explain what the graph says."""
    result, left = Score(reading.name), untaken(graph)
    for one in sorted(reading.unseen, key=lambda one: one.is_open):
        match = next((side for side in left if side.is_of(one)), None)
        text = f"{one.function}: {one.condition} — {one.side}, waits for {'|'.join(sorted(one.waits_for))}"
        if match is not None:
            left.remove(match)
            result.found += not one.is_open
            if match.waits_for not in one.waits_for and not one.is_open:
                result.other_kinds.append(f"{text}; the graph says {match.waits_for}")
        elif not one.is_open:
            result.missed.append(text)
    result.invented = [f"{side.place} {side.function}: {side.condition} — {side.side}" for side in left]
    return result


def untaken(graph: Graph) -> list[Untaken]:
    """The sides of all ways that no call took."""
    return [
        Untaken(_INNER.sub("", way.function), _unparsed(way.condition), _unparsed(side.name), way.waits_for, way.source)
        for way in graph.ways
        for side in way.sides
        if not side.taken
    ]


def total(scores: Iterable[Score]) -> Score:
    """All models together: each side counts the same."""
    whole = Score("all")
    for one in scores:
        whole.found += one.found
        whole.missed += one.missed
        whole.invented += one.invented
        whole.other_kinds += one.other_kinds
    return whole


def _unparsed(text: str) -> str:
    """As `ast.unparse` writes it, so that quotes and line breaks don't matter."""
    try:
        return ast.unparse(ast.parse(f"({text})", mode="eval"))
    except SyntaxError:
        return text  # a pattern that is no expression
