"""What one model may take, held by the tracing process itself. Imports no torch."""

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

__all__ = ["data_bytes", "is_out_of_memory", "limited", "memory_hint", "tell_of_exits"]

_GB = 10**9
_STATM = Path("/proc/self/statm")
_DATA = 5
"""Column of the pages that hold data, in /proc/self/statm."""
_OUT_OF_MEMORY = re.compile(r"\bMemoryError\b|bad_alloc|an(no|')t allocate memory|out of memory", re.IGNORECASE)


@contextmanager
def limited(timeout: float, memory: float, log: int) -> Iterator[None]:
    """Let the block take so much time and memory and no more.

    Args:
        timeout: Seconds. A process that is still in the block by then writes where it is to the log, and ends.
        memory: GB beyond what the process has now; what asks for more gets an error. Where the operating system has no
            such limit (it is Linux that has it), nothing is limited.
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
    """Memory this process has for data; 0 where the operating system does not say."""
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

    # of data, not of address space: files that are mapped and room that is only reserved cost nothing
    before = resource.getrlimit(resource.RLIMIT_DATA)
    most = before[1] if before[1] != resource.RLIM_INFINITY else size
    resource.setrlimit(resource.RLIMIT_DATA, (min(size, most), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def is_out_of_memory(error: str) -> bool:
    """Whether an error, type and message, says that memory was refused."""
    return bool(_OUT_OF_MEMORY.search(error))


def memory_hint(memory: float) -> str:
    """What to add to the message of such an error."""
    return f"(it may take {memory:g} GB, see the option `memory`)"


def tell_of_exits(log: int) -> None:
    """Write to the log where Python was when the process is ended by a crash, or by ``os._exit``."""
    faulthandler.enable(log)
    process, leave = os.getpid(), os._exit

    def tell(status: int) -> None:
        if os.getpid() == process:  # programs that a model forks end like this, too
            faulthandler.dump_traceback(log, all_threads=False)
        leave(status)

    os._exit = tell  # type: ignore[assignment]
