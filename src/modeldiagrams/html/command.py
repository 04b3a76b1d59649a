"""The command line that draws a diagram as its page does, for readers to copy."""

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
"""Begins what stands for finished HTML in texts of Python-Markdown."""

__all__ = ["command_line", "view_flags"]


def command_line(options: Options) -> str:
    """`modeldiagrams show …` for what was traced, and what its author says about it, without how much is open.

    Picture files are left out: their paths are relative to the docs' folder, and readers have neither. So are notes
    that Markdown has read already and marks as its own.
    """
    model = options.call.model
    start = ["render", model, "-o", f"{PurePath(model).stem}.html"] if is_graph_file(model) else ["show", model]
    device = {"device": options.limits.device}
    notes = {pattern: text for pattern, text in (options.author.notes or {}).items() if STX not in text}
    author = msgspec.structs.replace(options.author, embed=None, notes=notes or None)
    return shlex.join(["modeldiagrams", *start, *_flags(options.call), *_written(device), *_flags(author)])


def view_flags(options: Options) -> str:
    """The rest of that line: what is open at first, as the author chose it."""
    return shlex.join(_flags(options.view))


def _flags(group: msgspec.Struct) -> list[str]:
    return _written({name: value for name, value in msgspec.structs.asdict(group).items() if name != "model"})


def _written(values: dict[str, Any]) -> list[str]:
    given = {name: msgspec.to_builtins(value) for name, value in values.items() if value not in (None, (), {}, [])}
    pairs = [(f"--{name.replace('_', '-')}", _text(value)) for name, value in given.items()]
    return [part for pair in pairs for part in pair]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
