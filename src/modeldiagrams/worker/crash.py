"""Finds out from the log of a dead process where it was: `faulthandler` wrote its stacks there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.common.user_files import is_library, shorten_path

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Crash", "read_crash"]

_BEGIN = re.compile(r"^(Fatal Python error: |Timeout \(|(Current thread|Thread|Stack) .*most recent)", re.MULTILINE)
_STACK = re.compile(r"^(Current thread|Thread|Stack) .*\(most recent call first\):\n((?:  .*\n)*)", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$', re.MULTILINE)


class Crash(msgspec.Struct, frozen=True):
    """The end of a process."""

    printed: str
    """The output before that."""
    is_timeout: bool
    frames: tuple[str, ...]
    """Lines of user code, innermost last, as ``file:line in function``."""


def read_crash(log: str, libraries: Sequence[str], path: Sequence[str]) -> Crash:
    """Split a log into the output and the location of the process.

    Args:
        log: The end of the log.
        libraries: The process's `list_library_folders`.
        path: Folders that modules are imported from; files are shown relative to them.
    """
    begin = _BEGIN.search(log)
    if begin is None:
        return Crash(log, is_timeout=False, frames=())
    stacks = _STACK.findall(log, begin.start())
    # the failing thread is marked, or else use the main thread, which comes last
    text = next((stack for head, stack in stacks if head == "Current thread"), stacks[-1][1] if stacks else "")
    frames = [
        f"{shorten_path(file, roots=path)}:{line} in {function}"
        for file, line, function in reversed(_FRAME.findall(text))
        if not is_library(file, libraries)
    ]
    return Crash(log[: begin.start()], is_timeout=begin[0].startswith("Timeout"), frames=tuple(frames))
