"""All commands. Each is imported when it is called: most need little of what others do."""

from __future__ import annotations

import importlib
from typing import Any

import click

import modeldiagrams

__all__ = ["main"]

_MODULES = {
    "trace": "graphs",
    "render": "drawing",
    "show": "drawing",
    "summary": "table",
    "diff": "comparing",
    "history": "comparing",
    "check": "comparing",
    "watch": "watching",
    "record": "recording",
    "snapshot": "snapshots",
    "schema": "graphs",
}
"""Command → the module in this package that has it."""


class _Commands(click.Group):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Called by click, which looks here for the names that are near to a wrong one."""
        super().__init__(*args, **kwargs)
        self.commands = dict.fromkeys(_MODULES, click.Command(None))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        """Called by click."""
        return [*_MODULES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  (click's signature)
        """Called by click with what a command line says."""
        if cmd_name not in _MODULES:
            return None
        module = importlib.import_module(f"{__package__}.{_MODULES[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command


@click.group(cls=_Commands, help=modeldiagrams.__doc__.partition("\n")[0] if modeldiagrams.__doc__ else None)
@click.version_option(modeldiagrams.__version__)
def main() -> None:
    """Run one of the commands."""
