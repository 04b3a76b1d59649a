"""Traces the model that a command line names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.api.graph_files import load_graph_file
from modeldiagrams.api.target_file import import_path
from modeldiagrams.api.terminal import STDIO, CommandError, show_progress
from modeldiagrams.engine.single_trace import TracedModel, trace_once
from modeldiagrams.options.options import is_graph_file
from modeldiagrams.options.parsing import parse_options

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.options import Options

__all__ = ["drop_missing", "load_or_trace", "trace_model"]


def drop_missing(options: dict[str, str | None]) -> dict[str, str]:
    """Return the options that are given."""
    return {name: text for name, text in options.items() if text is not None}


def trace_model(target: str, given: dict[str, str | None]) -> TracedModel:
    """Run a model in a separate process."""
    options, folders = _parse_target(target, given)
    with show_progress(f"tracing {target}"):
        found = trace_once(options, folders)
    if not isinstance(found, TracedModel):
        raise CommandError(found)
    return found


def load_or_trace(target: str, given: dict[str, str | None]) -> Graph:
    """Load a graph file, from stdin if the target is ``-``, or run a model."""
    if target != str(STDIO) and not is_graph_file(target):
        return trace_model(target, given).graph
    for name in drop_missing(given):
        reason = f"{target} is a graph file, so there is nothing to call; remove this option"
        raise CommandError(f"option `{name}`: {reason}")
    return load_graph_file(Path(target))


def _parse_target(target: str, given: dict[str, str | None]) -> tuple[Options, list[Path]]:
    if is_graph_file(target) and Path(target).is_file():
        drawn = f"{Path(target).stem}.html"
        raise CommandError(
            f"{target} is a graph file, so there is no model to run; `modeldiagrams render {target} -o {drawn}`"
        )
    model, folders = import_path(target, Path.cwd())
    return parse_options({"model": model, **drop_missing(given)}), folders
