"""Where a process was when it ended: reads what `faulthandler` wrote into its log."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Crash", "read_crash"]

_BEGIN = re.compile(r"^(Fatal Python error: |Timeout \(|(Current thread|Thread|Stack) .*most recent)", re.MULTILINE)
_STACK = re.compile(r"^(Current thread|Thread|Stack) .*\(most recent call first\):\n((?:  .*\n)*)", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$', re.MULTILINE)


class Crash(msgspec.Struct, frozen=True):
    """The end of a process."""

    printed: str
    """What was written before."""
    is_timeout: bool
    frames: tuple[str, ...]
    """Lines of user code, innermost last, as ``file:line in function``."""


def read_crash(log: str, libraries: Sequence[str], path: Sequence[str]) -> Crash:
    """Split a log into what was printed and where the process was.

    Args:
        log: The end of everything that the process wrote.
        libraries: Folders of code that is not the user's.
        path: Folders that modules are imported from; files are shown relative to them.
    """
    begin = _BEGIN.search(log)
    if begin is None:
        return Crash(log, is_timeout=False, frames=())
    stacks = _STACK.findall(log, begin.start())
    # the thread that failed says so; without one it is the first that was started, and that is written last
    text = next((stack for head, stack in stacks if head == "Current thread"), stacks[-1][1] if stacks else "")
    frames = [frame for frame in _FRAME.findall(text) if not _is_within(frame[0], libraries)]
    return Crash(
        log[: begin.start()],
        is_timeout=begin[0].startswith("Timeout"),
        frames=tuple(f"{_relative(file, path)}:{line} in {function}" for file, line, function in reversed(frames)),
    )


def _is_within(file: str, folders: Sequence[str]) -> bool:
    return file.startswith("<frozen ") or any(Path(folder) in Path(file).parents for folder in folders)


def _relative(file: str, path: Sequence[str]) -> str:
    """No message shows where on a machine a project lies."""
    roots = [folder for folder in path if Path(folder) in Path(file).parents]
    return Path(file).relative_to(max(roots, key=len)).as_posix() if roots else Path(file).name
