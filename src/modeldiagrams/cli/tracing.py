"""A model that a command line names → its graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.api.target_file import import_path
from modeldiagrams.api.terminal import Failed, progress
from modeldiagrams.ir import serialize
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.worker import Mode, Refused, Traced, Worker

if TYPE_CHECKING:
    from modeldiagrams.engine.embedding import Make
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.options import Options

__all__ = ["given_options", "maker", "traced"]


def given_options(options: dict[str, str | None]) -> dict[str, str]:
    """The options that a command line has."""
    return {name: text for name, text in options.items() if text is not None}


class TracedModel(NamedTuple):
    """What a process of its own found."""

    options: Options
    graph: Graph
    tried: tuple[str, ...]
    """The passes of the search for inputs."""
    sources: tuple[str, ...]
    """The model's source files."""


def traced(target: str, mode: Mode, given: dict[str, str | None]) -> TracedModel:
    """Run a model in a process of its own."""
    options, folders = _read(target, given)
    with _worker(options) as worker, progress(f"tracing {target}"):
        answer = worker.trace(options, folders, mode)
    if isinstance(answer, Refused):
        raise Failed(answer.problem)
    return TracedModel(options, serialize.deserialize(answer.graph), answer.tried, answer.sources)


def maker(target: str, given: dict[str, str | None]) -> Make:
    """What calls functions that make images of a model, each in a process of its own."""

    def make(function: str) -> Traced | Refused:
        options, folders = _read(target, given)
        with _worker(options) as worker:
            return worker.trace(options, folders, function=function)

    return make


def _read(target: str, given: dict[str, str | None]) -> tuple[Options, list[Path]]:
    model, folders = import_path(target, Path.cwd())
    return parse_options({"model": model, **given_options(given)}), folders


def _worker(options: Options) -> Worker:
    return Worker(options.limits.python, gpu=options.limits.uses_gpu)
