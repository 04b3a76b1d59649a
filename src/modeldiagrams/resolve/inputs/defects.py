"""What is wrong with inputs with which a model runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.resolve.inputs.candidate_search import dead_inputs, modules_not_called
from modeldiagrams.resolve.names.roles import role_of
from modeldiagrams.resolve.values.entries import leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import nn

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.resolve.inputs.failure_search import Solution
    from modeldiagrams.resolve.values.entries import Entries, Leaf

__all__ = ["Defects", "defects_of"]

Defects = tuple[int, bool, int, int]
"""Inputs that reach no output, whether the batch is lost, modules that are not called, and what nobody would choose.

The least is the best. Some inputs have to be odd: that alone is no defect.
"""

_IMAGE_RANK = 4
_CHANNELS = 2
_EDGE = (2, 1)
"""Pairs of nodes; a state of two layers has a width, too."""


def defects_of(model: nn.Module, graph: Graph, solution: Solution, is_own: Callable[[int], bool]) -> Defects:
    """The defects of a solution.

    Args:
        model: What was called.
        graph: Of its pass.
        solution: Its inputs.
        is_own: Whether a size is one that nobody has, which readers need not see.
    """
    idle, odd = modules_not_called(model, graph), oddness(solution.entries, is_own)
    return dead_inputs(graph), not solution.keeps_batch, idle, odd


def oddness(entries: Entries, is_own: Callable[[int], bool]) -> int:
    """How many things about inputs a person wouldn't choose where others do, too: most fit only by broadcasting."""
    every = [*leaves(entries)]
    own = {size for leaf in every for size in leaf.shape if is_own(size)}
    return len(own) + sum(_oddness(leaf, every) for leaf in every)


def _oddness(leaf: Leaf, every: Sequence[Leaf]) -> int:
    """Dimensions of one item, masks of no sequence, lengths of what there are no rows of."""
    name = next((key for key in reversed(leaf.path) if isinstance(key, str)), "")  # of a pair of states, theirs
    role = role_of(name) if name else None
    kind = role.name if role else ""
    is_of_one_layer = kind == "state" and leaf.shape[:2] == (1, 1)
    is_batch_second = leaf.shape[1:2] == (1,) and leaf.shape[:1] != (1,) and not _is_edge(leaf)
    start = _CHANNELS if is_batch_second or is_of_one_layer or len(leaf.shape) >= _IMAGE_RANK else 1
    rows = {other.shape[:1] for other in every if other is not leaf and len(other.shape) > 1}
    is_alone = len(leaf.shape) == 1 and bool(rows) and leaf.shape[:1] not in rows
    return leaf.shape[start:].count(1) + (kind == "mask" and len(leaf.shape) == 1) + (kind == "lengths" and is_alone)


def _is_edge(leaf: Leaf) -> bool:
    return leaf.shape == _EDGE
