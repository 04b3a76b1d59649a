"""Builds the command that draws the same diagram, for readers to copy."""

from __future__ import annotations

import json
import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.options.options import is_graph_file

if TYPE_CHECKING:
    from modeldiagrams.options.options import Options

STX = "\x02"
"""Marks a placeholder for finished HTML in Python-Markdown."""

__all__ = ["build_command", "build_view_flags"]


def build_command(options: Options) -> str:
    """Build `modeldiagrams show …` with the model and the author's annotations, without the view.

    Files of images and numbers are left out, because their paths are relative to the documentation's folder. So are
    notes that Markdown has already processed.
    """
    model = options.call.model
    start = ["render", model, "-o", f"{PurePath(model).stem}.html"] if is_graph_file(model) else ["show", model]
    device = {"device": options.limits.device}
    notes = {pattern: text for pattern, text in (options.author.notes or {}).items() if STX not in text}
    values = [one for one in options.author.values or () if not isinstance(one, str)]
    author = msgspec.structs.replace(options.author, embed=None, notes=notes or None, values=values or None)
    return shlex.join(["modeldiagrams", *start, *_flags(options.call), *_format_flags(device), *_flags(author)])


def build_view_flags(options: Options) -> str:
    """Build the rest of the command: what is open at first."""
    return shlex.join(_flags(options.view))


def _flags(group: msgspec.Struct) -> list[str]:
    return _format_flags({name: value for name, value in msgspec.structs.asdict(group).items() if name != "model"})


def _format_flags(values: dict[str, Any]) -> list[str]:
    given = {name: msgspec.to_builtins(value) for name, value in values.items() if value not in (None, (), {}, [])}
    pairs = [(f"--{name.replace('_', '-')}", _format_value(value)) for name, value in given.items()]
    return [part for pair in pairs for part in pair]


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
