"""Models that run once, each in a process of its own and without a cache: for commands."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from modeldiagrams.ir.serialize import deserialize
from modeldiagrams.worker import Mode, Refused, Worker

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from modeldiagrams.engine.embedding import Make
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.options import Options
    from modeldiagrams.worker import Problem, Traced

__all__ = ["Mode", "caller", "trace_once"]


def trace_once(options: Options, folders: Sequence[Path], mode: Mode) -> tuple[Graph, tuple[str, ...]] | Problem:
    """Trace a model.

    Args:
        options: The model and its limits.
        folders: To import it from.
        mode: How values are computed.

    Returns:
        The graph, and what was tried for inputs; or why there is none.
    """
    with _worker(options) as worker:
        answer = worker.trace(options, folders, mode)
    return answer.problem if isinstance(answer, Refused) else (deserialize(answer.graph), answer.tried)


def caller(options: Options, folders: Sequence[Path]) -> Make:
    """What calls functions that make images of a model."""
    return functools.partial(_called, options, folders)


def _called(options: Options, folders: Sequence[Path], function: str) -> Traced | Refused:
    with _worker(options) as worker:
        return worker.trace(options, folders, function=function)


def _worker(options: Options) -> Worker:
    return Worker(options.limits.python, gpu=options.limits.uses_gpu)
