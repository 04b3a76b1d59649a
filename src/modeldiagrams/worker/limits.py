"""Limits the time and memory of a model, in its own process. Imports no torch."""

from __future__ import annotations

import faulthandler
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["explain_memory", "limit_process", "log_exits", "measure_data"]

_GB = 10**9
_STATM = Path("/proc/self/statm")
_DATA = 5
"""The column of data pages in /proc/self/statm."""


@contextmanager
def limit_process(timeout: float, memory: float, log: int) -> Iterator[None]:
    """Limit the time and memory of the block.

    Args:
        timeout: Seconds after which the process writes its stacks to the log and ends.
        memory: GB in addition to the current memory; allocating more fails. Only Linux has such a limit.
        log: The file descriptor of the log.
    """
    process = os.getpid()
    faulthandler.dump_traceback_later(timeout, exit=True, file=log)
    try:
        with _limit_data(measure_data() + int(memory * _GB)):
            yield
    finally:
        if os.getpid() == process:  # a forked child lacks the thread, and would wait for it
            faulthandler.cancel_dump_traceback_later()


def measure_data() -> int:
    """Return the memory of this process for data; 0 if the operating system doesn't report it."""
    try:
        return int(_STATM.read_text("ascii").split()[_DATA]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


@contextmanager
def _limit_data(size: int) -> Iterator[None]:
    if sys.platform != "linux" or not measure_data():
        yield
        return
    import resource  # noqa: PLC0415  (there is none on Windows)

    # limits data, not address space, because mapped files and reserved memory cost nothing
    before = resource.getrlimit(resource.RLIMIT_DATA)
    maximum = before[1] if before[1] != resource.RLIM_INFINITY else size
    resource.setrlimit(resource.RLIMIT_DATA, (min(size, maximum), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def explain_memory(memory: float) -> str:
    """Return a hint on the option for such an error."""
    return f"(it may take {memory:g} GB, see the option `memory`)"


def log_exits(log: int) -> None:
    """Write the stack to the log on a crash or ``os._exit``."""
    faulthandler.enable(log)
    process, leave = os.getpid(), os._exit

    def log_and_exit(status: int) -> None:
        if os.getpid() == process:  # forked children also end like this
            faulthandler.dump_traceback(log, all_threads=False)
        leave(status)

    os._exit = log_and_exit  # type: ignore[assignment]
