"""Child processes: another interpreter, or a fork of this process that runs a function."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn, TypeAlias

from modeldiagrams.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Child", "Forked", "adopt_orphans", "end_descendants", "spawned"]

_THREADS = "2"
"""Tracing computes very little, so it leaves the cores to others."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_leave = os._exit


def spawned(
    python: str | None, role: str, log: IO[bytes], *, gpu: bool = False, inherited: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start ``python -m modeldiagrams.worker``.

    Args:
        python: The interpreter; None for the current one.
        role: The role of the process.
        log: The file for its output.
        gpu: Whether it may see a GPU.
        inherited: File descriptors that it inherits, with their numbers as arguments.

    Raises:
        WorkerError: if the interpreter doesn't exist.
    """
    try:
        return subprocess.Popen(  # noqa: S603  (the site's own interpreter)
            # unbuffered, so that a crash loses no output
            [python or sys.executable, "-u", "-P", "-m", "modeldiagrams.worker", role, *map(str, inherited)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=_make_environment(gpu=gpu),
            pass_fds=inherited,
            start_new_session=True,
        )
    except OSError as error:
        reason = f"expected a Python interpreter, got {python!r}: {error.strerror}"
        raise WorkerError(f"failed: option `python`: {reason}") from error


def _make_environment(*, gpu: bool) -> dict[str, str]:
    """Return the environment of the process, with a fixed hash seed, because models iterate over sets.

    NumPy starts no background threads, because a fork would lack them. There is no GPU unless requested.
    """
    limits = {"OMP_NUM_THREADS": _THREADS, "MKL_NUM_THREADS": _THREADS, "OPENBLAS_NUM_THREADS": "1"}
    hidden = {} if gpu else {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    return {**limits, **os.environ, **hidden, "PYTHONHASHSEED": "0"}


class Forked:
    """A fork of this process, with the interface of `subprocess.Popen` that `Process` uses."""

    def __init__(self, main: Callable[[], NoReturn], log: IO[bytes]) -> None:
        """Run a function in a fork with new standard streams.

        Args:
            main: The function.
            log: The file for its output.
        """
        self.returncode: int | None = None
        parent, requests, answers = os.getpid(), os.pipe(), os.pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                _become(parent, requests[0], answers[1], log.fileno())
                main()
            finally:  # the fork must never continue its parent's work
                _leave(1)
        self.stdin, self.stdout = os.fdopen(requests[1], "wb"), os.fdopen(answers[0], "rb")
        os.close(requests[0])
        os.close(answers[1])

    def poll(self) -> int | None:
        """Return its exit status; None while it runs."""
        return self.returncode or self._wait(os.WNOHANG)

    def wait(self) -> int:
        """Wait for its end, and return its exit status."""
        return self._wait(0) or 0

    def kill(self) -> None:
        """End it at once."""
        os.kill(self.pid, signal.SIGKILL)

    def _wait(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode


Child: TypeAlias = subprocess.Popen[bytes] | Forked


def _become(parent: int, stdin: int, stdout: int, stderr: int) -> None:
    """Turn a fork into a separate process that ends with its parent."""
    os.setsid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        _leave(0)
    for number, file in enumerate((stdin, stdout, stderr)):
        os.dup2(file, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that `end_descendants` finds them."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_descendants() -> None:
    """Kill all descendants. The orphans of one round are children in the next."""
    with contextlib.suppress(ChildProcessError):
        while True:
            for child in _list_children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def _list_children() -> list[int]:
    folders = [folder for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    return [int(folder.name) for folder in folders if _find_parent(folder) == os.getpid()]


def _find_parent(process: Path) -> int | None:
    with contextlib.suppress(OSError):
        return int((process / "stat").read_bytes().rpartition(b")")[2].split()[1])
    return None


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
