"""Traits of a model: by them, catalogues find out which models are a family, and what differs in it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import groupby
from statistics import median_low
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.common.files import digest
from modeldiagrams.ir.graph import Graph, ModuleNode
from modeldiagrams.ir.queries import short_name

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Traits", "list_traits"]


class Traits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What of a model may differ within its family, and what may not."""

    parts: str
    """The same for models with the same top-level modules, in the order of their calls, whatever is in them."""
    blocks: dict[str, int] = {}
    """Short names of module classes, with the numbers of their modules: those that hold modules, the largest first.

    PyTorch's classes don't count, such as ``Sequential``.
    """
    layers: dict[str, int] = {}
    """The same for all other classes, the largest first."""
    sizes: dict[str, int | float] = {}
    """Medians and maxima of numbers in attributes of layers, such as ``Median Conv2d width``."""


def list_traits(graph: Graph) -> Traits:
    """List the traits of a graph's model."""
    modules = {node.path: node for node in graph.nodes if isinstance(node, ModuleNode)}
    around = {path.rpartition(".")[0] for path in modules}
    blocks, layers = Counter[str](), Counter[str]()
    for path, node in sorted(modules.items(), key=lambda item: -item[1].parameters.total):
        is_block = path in around and not node.class_.startswith("torch.nn.")
        (blocks if is_block else layers)[short_name(node.class_)] += 1
    return Traits(parts=_digest_parts(graph), blocks={**blocks}, layers={**layers}, sizes=_list_sizes(modules.values()))


def _digest_parts(graph: Graph) -> str:
    """Digest paths and classes of the top-level modules; numbered ones of a class in a row count once."""
    top = [node for node in graph.nodes if isinstance(node, ModuleNode) and graph.hierarchy[node.id] is None]
    # the last may be a classifier, instead of which models without classes have an `Identity`
    parts = groupby(
        (re.sub(r"\d+", "#", node.path), "" if top[1:] and node is top[-1] else node.class_) for node in top
    )
    return digest(repr([part for part, _ in parts]).encode())


def _list_sizes(modules: Iterable[ModuleNode]) -> dict[str, int | float]:
    found = defaultdict[str, list[float]](list)
    for node in modules:
        # of attributes without a name, the last is what comes out: `Conv2d(3, 64)`, `LayerNorm((768,))`
        named = {"width" if name.isdigit() else name: value for name, value in node.attributes.items()}
        for name, value in named.items():
            numbers = value if isinstance(value, list) else [value]
            if numbers and all(type(number) in {int, float} for number in numbers):  # a bool is an int, too
                found[f"{short_name(node.class_)} {name}"].append(max(numbers))
    ordered = sorted(found.items(), key=lambda item: -len(item[1]))
    medians = {f"Median {name}": median_low(numbers) for name, numbers in ordered}
    return medians | {f"Max. {name}": max(numbers) for name, numbers in ordered}
