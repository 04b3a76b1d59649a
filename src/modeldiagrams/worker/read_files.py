"""Which other files the user's code reads: settings, weights, tables. What a diagram shows may depend on them."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

from modeldiagrams.common.user_files import is_user_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

__all__ = ["files_read_by", "note_reads"]

_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".dll", ".dylib")
_OF_THE_SYSTEM = ("/dev/", "/proc/", "/sys/")
"""These change while nothing of the user's does."""

_read: dict[tuple[str, frozenset[str]], None] = {}
"""A file, and the files of the code that was running when it was opened."""
_written: set[str] = set()


def note_reads() -> None:
    """From now on, and until this process ends, take down which files are opened."""
    sys.addaudithook(_note)


def files_read_by(sources: Iterable[str]) -> tuple[str, ...]:
    """Absolute paths of what code has read, sorted.

    Args:
        sources: Absolute paths of the files of this code. Several models may have run in this process: what was opened
            while other code of the user's was running, too, is not theirs.
    """
    own = {*sources}
    found = {file for file, running in _read if running <= own and file not in _written}
    return tuple(sorted(file for file in found - own if os.path.isfile(file)))  # noqa: PTH113  (as they were opened)


def _note(event: str, args: tuple[Any, ...]) -> None:
    if event != "open" or not isinstance(args[0], str | bytes | os.PathLike):
        return
    with contextlib.suppress(OSError, ValueError):  # no folder to be relative to, or no text
        file = os.path.abspath(os.fsdecode(args[0]))  # noqa: PTH100  (faster, and links stay)
        if file.endswith(_CODE) or file.startswith(_OF_THE_SYSTEM) or not is_user_file(file):
            return
        if args[2] & (os.O_WRONLY | os.O_RDWR):
            _written.add(file)
        elif running := _running(sys._getframe(1)):  # noqa: SLF001  (a function of Python's)
            _read[file, running] = None


def _running(frame: FrameType | None) -> frozenset[str]:
    """Files of the user's code that is running."""
    files = set[str]()
    while frame is not None:
        files.add(frame.f_code.co_filename)
        frame = frame.f_back
    return frozenset(file for file in files if is_user_file(file))
