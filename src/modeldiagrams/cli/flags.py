"""Parameters of several commands: the options of a diagram as flags, and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from modeldiagrams.options.options import Call, Limits
from modeldiagrams.options.parsing import collect_help, list_options

if TYPE_CHECKING:
    from collections.abc import Callable

    import msgspec

__all__ = ["FORCE", "GRAPH_FILE", "option_flags", "trace_flags"]

GRAPH_FILE = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
FORCE = click.option("--force", is_flag=True, help="Overwrite a graph even if the new one is less complete.")


def option_flags(*groups: type[msgspec.Struct]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add flags with the names and help of a diagram's options."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        for name in reversed(list_options(*groups)):
            if name != "model":
                flag = f"--{name.replace('_', '-')}"
                command = click.option(flag, name, metavar="YAML", help=collect_help()[name])(command)
        return command

    return add


trace_flags = option_flags(Call, Limits)
"""Adds the flags of commands that run a model."""
