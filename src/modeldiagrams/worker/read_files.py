"""Finds other files that the user's code reads (settings, weights, tables), because a diagram may depend on them."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from typing import TYPE_CHECKING, Any

from modeldiagrams.common.user_files import is_user_file

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["list_read_files", "note_reads"]

_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".dll", ".dylib")
_OF_THE_SYSTEM = ("/dev/", "/proc/", "/sys/")
"""Folders whose files change independently of the user's."""

_LARGEST = 100_000_000
"""The maximum size in bytes, because the content of each file is hashed in every build."""

_read: set[str] = set()
"""Files that were opened while user code was running."""


def note_reads() -> None:
    """Record opened files from now on, until this process ends."""
    sys.addaudithook(_note)


def list_read_files(before: int) -> tuple[str, ...]:
    """Return the sorted absolute paths of files up to 100 MB that user code has read.

    Args:
        before: When the code began to run, in nanoseconds of the system's clock. Files that it has written itself
            don't count.
    """
    return tuple(sorted(file for file in _read if _is_decisive(file, before)))


def _is_decisive(file: str, before: int) -> bool:
    try:
        status = os.stat(file)  # noqa: PTH116  (as it was opened)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_mtime_ns < before and status.st_size <= _LARGEST


def _note(event: str, args: tuple[Any, ...]) -> None:
    if event != "open" or not isinstance(args[0], str | bytes | os.PathLike):
        return
    with contextlib.suppress(OSError, ValueError):  # no folder to be relative to, or no text
        file = os.path.abspath(os.fsdecode(args[0]))  # noqa: PTH100  (faster, and links stay)
        if file.endswith(_CODE) or file.startswith(_OF_THE_SYSTEM) or not is_user_file(file):
            return
        if not args[2] & (os.O_WRONLY | os.O_RDWR) and _is_user_code(sys._getframe(1)):  # noqa: SLF001
            _read.add(file)


def _is_user_code(frame: FrameType | None) -> bool:
    """Whether user code is running."""
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None
