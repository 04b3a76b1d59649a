"""What is wrong with inputs with which a model runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.target.inference.entries import leaves
from modeldiagrams.target.inference.search import dead_inputs, modules_not_called

if TYPE_CHECKING:
    from torch import nn

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.target.inference.input_solver import Solution

__all__ = ["Defects", "defects_of"]

Defects = tuple[int, bool, int, int]
"""Inputs that reach no output, whether the batch is lost, modules that are not called, and dimensions of one item.

The least is the best. A single item suits any other size, but some inputs have to have one: that alone is no defect.
"""


def defects_of(model: nn.Module, graph: Graph, solution: Solution, unused: int) -> Defects:
    """The defects of a solution.

    Args:
        model: What was called.
        graph: Of its pass.
        solution: Its inputs.
        unused: How many inputs no output can depend on.
    """
    single = sum(leaf.shape[1:].count(1) for leaf in leaves(solution.entries))
    dead = max(0, dead_inputs(graph) - unused)
    return dead, not solution.keeps_batch, modules_not_called(model, graph), single
