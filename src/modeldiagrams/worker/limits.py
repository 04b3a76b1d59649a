"""Time and memory limits of one model, which the worker sets for itself. Imports no torch."""

from __future__ import annotations

import faulthandler
import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["data_bytes", "is_out_of_memory", "limited", "log_exits", "memory_hint"]

_GB = 10**9
_STATM = Path("/proc/self/statm")
_DATA = 5
"""Column of the pages that hold data, in /proc/self/statm."""
_OUT_OF_MEMORY = re.compile(r"\bMemoryError\b|bad_alloc|an(no|')t allocate memory|out of memory", re.IGNORECASE)


@contextmanager
def limited(timeout: float, memory: float, log: int) -> Iterator[None]:
    """Limit the time and memory of the block.

    Args:
        timeout: Seconds. A process that is still in the block by then writes its stacks to the log, and ends.
        memory: GB beyond what the process has now; allocating more fails. Only Linux has such a limit.
        log: File descriptor.
    """
    process = os.getpid()
    faulthandler.dump_traceback_later(timeout, exit=True, file=log)
    try:
        with _limited_data(data_bytes() + int(memory * _GB)):
            yield
    finally:
        if os.getpid() == process:  # a forked child has no such thread, and would wait for it
            faulthandler.cancel_dump_traceback_later()


def data_bytes() -> int:
    """Memory of this process for data; 0 where the operating system does not report it."""
    try:
        return int(_STATM.read_text("ascii").split()[_DATA]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


@contextmanager
def _limited_data(size: int) -> Iterator[None]:
    if sys.platform != "linux" or not data_bytes():
        yield
        return
    import resource  # noqa: PLC0415  (there is none on Windows)

    # of data, not of address space: mapped files and reserved memory cost nothing
    before = resource.getrlimit(resource.RLIMIT_DATA)
    maximum = before[1] if before[1] != resource.RLIM_INFINITY else size
    resource.setrlimit(resource.RLIMIT_DATA, (min(size, maximum), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def is_out_of_memory(error: str) -> bool:
    """Whether an error, type and message, says that memory was refused."""
    return bool(_OUT_OF_MEMORY.search(error))


def memory_hint(memory: float) -> str:
    """The part of such an error's message that names the option."""
    return f"(it may take {memory:g} GB, see the option `memory`)"


def log_exits(log: int) -> None:
    """On a crash or ``os._exit``, write the stack to the log."""
    faulthandler.enable(log)
    process, leave = os.getpid(), os._exit

    def log_and_exit(status: int) -> None:
        if os.getpid() == process:  # forked children end like this, too
            faulthandler.dump_traceback(log, all_threads=False)
        leave(status)

    os._exit = log_and_exit  # type: ignore[assignment]
