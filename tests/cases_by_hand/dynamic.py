"""A model that takes several ways, and the passes that take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from modeldiagrams import trace
from modeldiagrams.ir.graph import Graph


@dataclass(frozen=True)
class Dynamic:
    """Makes a model and its cases: name → ``args``, ``kwargs``, ``training``, ``method`` if that is not forward.

    A case with other constructor arguments has a ``model`` of its own.
    """

    name: str
    make: Callable[[], nn.Module]
    cases: Callable[[Any], dict[str, dict[str, Any]]]

    def graphs(self) -> dict[str, Graph]:
        """The graph of each case alone, all with real values and equal random numbers."""
        torch.manual_seed(0)
        model = self.make().eval()
        with torch.no_grad():
            cases = self.cases(model)
        return {name: _traced(**{"model": model, **case}) for name, case in cases.items()}


def _traced(
    model: nn.Module,
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    method: str = "",
    *,
    training: bool = False,
) -> Graph:
    model.train(training)
    torch.manual_seed(0)
    graph = trace(getattr(model, method) if method else model, args, kwargs, mode="real")
    model.eval()
    if graph.status.error:
        raise RuntimeError(f"expected a complete pass, got {graph.status.error}")
    return graph


def numbers(*size: int) -> torch.Tensor:
    """Random values, the same each time."""
    return torch.randn(*size, generator=torch.Generator().manual_seed(len(size)))
