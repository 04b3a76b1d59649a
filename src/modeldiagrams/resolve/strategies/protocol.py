"""The protocol of strategies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.resolve.strategies.requests import Arguments, InputRequest, Inputs, ModelRequest

__all__ = ["Strategy"]


class Strategy(Protocol):
    """One source of constructor arguments and inputs.

    A strategy that knows nothing of a model yields no arguments, and returns no inputs.
    """

    def propose_arguments(self, request: ModelRequest) -> Iterator[Arguments]:
        """Arguments to try, likeliest first; the next ones are asked for only after these failed."""

    def find_inputs(self, request: InputRequest) -> Inputs | None:
        """Inputs with which the model runs."""
