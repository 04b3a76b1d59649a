"""The group of all commands. Each is imported when it is called, because most need few modules."""

from __future__ import annotations

import importlib
from typing import Any

import click

import modeldiagrams

__all__ = ["main"]

_MODULES = {
    "trace": "graphs",
    "render": "draw_commands",
    "show": "draw_commands",
    "summary": "table",
    "cost": "cost_command",
    "describe": "describe_command",
    "ask": "ask_command",
    "mcp": "ask_command",
    "readme": "readme_command",
    "diff": "comparing",
    "history": "comparing",
    "check": "comparing",
    "catalogue": "catalogue_command",
    "watch": "watching",
    "record": "record_command",
    "snapshot": "snapshot_command",
    "schema": "graphs",
}
"""The module of each command in this package."""


class _Commands(click.Group):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Register the names, which click suggests for a misspelt one."""
        super().__init__(*args, **kwargs)
        self.commands = dict.fromkeys(_MODULES, click.Command(None))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        """List the commands; called by click."""
        return [*_MODULES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  (click's signature)
        """Import a command; called by click."""
        if cmd_name not in _MODULES:
            return None
        module = importlib.import_module(f"{__package__}.{_MODULES[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command


@click.group(cls=_Commands, help=modeldiagrams.__doc__.partition("\n")[0] if modeldiagrams.__doc__ else None)
@click.version_option(modeldiagrams.__version__)
def main() -> None:
    """Run one of the commands."""
