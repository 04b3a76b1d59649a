"""A model that a command line names → its graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.api.target_file import import_path
from modeldiagrams.api.terminal import CommandError, show_progress
from modeldiagrams.engine.once import TracedModel, caller, trace_once
from modeldiagrams.options.options import is_graph_file
from modeldiagrams.options.parsing import parse_options

if TYPE_CHECKING:
    from modeldiagrams.engine.embedding import Make
    from modeldiagrams.engine.once import Mode
    from modeldiagrams.options.options import Options

__all__ = ["given_options", "maker", "traced"]


def given_options(options: dict[str, str | None]) -> dict[str, str]:
    """The options that a command line has."""
    return {name: text for name, text in options.items() if text is not None}


def traced(target: str, mode: Mode, given: dict[str, str | None]) -> TracedModel:
    """Run a model in a process of its own."""
    options, folders = _read(target, given)
    with show_progress(f"tracing {target}"):
        found = trace_once(options, folders, mode)
    if not isinstance(found, TracedModel):
        raise CommandError(found)
    return found


def maker(target: str, given: dict[str, str | None]) -> Make:
    """What calls functions that make images of a model."""
    return caller(*_read(target, given))


def _read(target: str, given: dict[str, str | None]) -> tuple[Options, list[Path]]:
    if is_graph_file(target) and Path(target).is_file():
        drawn = f"{Path(target).stem}.html"
        raise CommandError(
            f"{target} is a graph file, so there is no model to run; `modeldiagrams render {target} -o {drawn}`"
        )
    model, folders = import_path(target, Path.cwd())
    return parse_options({"model": model, **given_options(given)}), folders
