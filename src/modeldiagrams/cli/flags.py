"""Parameters of several commands: the options of a diagram as flags, and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from modeldiagrams.engine.once import Mode
from modeldiagrams.options.options import Call, Limits
from modeldiagrams.options.parsing import collect_help, list_options

if TYPE_CHECKING:
    from collections.abc import Callable

    import msgspec

__all__ = ["FORCE", "GRAPH_FILE", "option_flags", "trace_flags"]

GRAPH_FILE = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
FORCE = click.option("--force", is_flag=True, help="Overwrite a graph even if the new one is less complete.")
_MODES = (
    "How values are computed. fake: shapes only, without arithmetic. meta: the same, and weights take no memory, for"
    " models larger than this machine. real: with values. auto, the default: fake, and real if that fails."
)


def option_flags(*groups: type[msgspec.Struct]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add flags with the names and help of a diagram's options."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        for name in reversed(list_options(*groups)):
            if name in {"model", "mode"}:  # `--mode` has choices
                continue
            flag = f"--{name.replace('_', '-')}"
            command = click.option(flag, name, metavar="YAML", help=collect_help()[name])(command)
        return command

    return add


def trace_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Add the flags of commands that run a model."""
    mode = click.option("--mode", default="auto", type=click.Choice(get_args(Mode)), help=_MODES)
    return option_flags(Call, Limits)(mode(command))
