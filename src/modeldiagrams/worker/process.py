"""Communicates with a child process, and finds out how it ended."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import threading
import time
from typing import IO, TYPE_CHECKING, Any, NoReturn, Self, TypeVar, cast

import msgspec

from modeldiagrams.common.version import read_version
from modeldiagrams.errors import WorkerError
from modeldiagrams.worker.child import Forked, spawned
from modeldiagrams.worker.crash import read_crash
from modeldiagrams.worker.protocol import (
    Hello,
    ModelAnswer,
    ModelRequest,
    Prepare,
    Problem,
    Ready,
    Refused,
    Request,
    receive,
    send,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modeldiagrams.worker.child import Child

__all__ = ["SETUP_SECONDS", "START_SECONDS", "Process", "make_problem"]

T = TypeVar("T")

START_SECONDS = 600.0
"""Seconds until the first message; only a hang takes that long, even on a busy machine."""

SETUP_SECONDS = 900.0
"""Seconds to import torch and to draw, which no option limits; longer than V8's own limit, which has a better error."""

EXIT_MARGIN = 5.0
"""Seconds for the process to end itself after a timeout, because it logs where it was."""

_LONGEST_OUTPUT = 20_000
"""How many bytes of a model's output are kept, from its end."""

_LARGEST_LOG = 10**8
"""The maximum size of a model's output on disk, in bytes."""

_POLL_INTERVAL = 1.0
"""Seconds between two checks of that size."""

_SHORT = 0.005
"""Seconds between two checks of a process that is about to end."""

_BLOCK = 512
"""The size of a block in `os.stat`, in bytes."""

_SHOWN_LINES = 12

# unions are types to msgspec, not to mypy
_READY: Any = Ready | Refused
_ANSWER: Any = ModelAnswer


class Process:
    """A process that answers requests."""

    def __init__(self, start: Callable[[IO[bytes]], Child], python: str | None = None) -> None:
        """Start the process.

        Args:
            start: Starts the child with a file for its output.
            python: Its interpreter, for messages; None for the current one.

        Raises:
            WorkerError: if it doesn't start, or has another version of this package.
        """
        self._owner = os.getpid()
        self._is_late = False
        self._killed = False
        self._lock = threading.Lock()
        self._path: tuple[str, ...] = ()
        self._libraries: tuple[str, ...] = ()
        self._log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  (closed in `end`)
        try:
            self._child = start(self._log)
        except BaseException:
            self._log.close()
            raise
        try:
            self._handshake(python)
        except BaseException:
            self.end()
            raise

    @classmethod
    def spawn(cls, role: str, python: str | None = None, *, gpu: bool = False, inherited: Sequence[int] = ()) -> Self:
        """Start an interpreter; see `spawned`."""
        return cls(lambda log: spawned(python, role, log, gpu=gpu, inherited=inherited), python)

    @classmethod
    def fork(cls, main: Callable[[], NoReturn]) -> Self:
        """Fork this process; see `Forked`."""
        return cls(lambda log: Forked(main, log))

    def is_usable(self) -> bool:
        """Whether it is alive and was started by this process, not by its parent."""
        return self._owner == os.getpid() and not self._killed and not self._has_ended()

    def ask(self, request: Request, kind: type[T], seconds: float) -> T:
        """Send a request and wait for the answer.

        Raises:
            WorkerError: if the process ended; its message is a sentence without a subject.
        """
        if isinstance(request, Prepare):
            self._path = request.path
        try:
            self._log.seek(0)  # the process writes at the same position
            self._log.truncate()
            with self._deadline(seconds):
                send(self._pipes()[0], request)
                return receive(self._pipes()[1], kind)
        except msgspec.DecodeError as error:
            self.kill()
            raise WorkerError(f"left the tracing process unable to answer: {error}") from error
        except (EOFError, OSError) as error:
            self.kill()
            raise self._exit_error(request, seconds) from error

    def run(self, request: ModelRequest) -> ModelAnswer:
        """Run a model, or list some; every answer, even the end of the process, has the model's output."""
        doing = "importing PyTorch"
        try:
            answer: ModelAnswer = self.ask(Prepare(path=request.path), _READY, SETUP_SECONDS)
            if isinstance(answer, Ready):
                doing = request.doing
                answer = self.ask(request, _ANSWER, request.limits.seconds + EXIT_MARGIN)
        except WorkerError as error:
            answer = Refused(problem=make_problem(doing, error), may_differ=True)
        return msgspec.structs.replace(answer, output=self.printed())

    def end(self, patience: float = 0) -> None:
        """End the process and its group; a forked child of the owner only closes its files.

        Args:
            patience: Seconds to wait for it to end itself.
        """
        if self._owner == os.getpid():
            deadline = time.monotonic() + patience
            while time.monotonic() < deadline and not self._has_ended():
                time.sleep(_SHORT)
            self.kill()
        elif self._child.returncode is None:
            self._child.returncode = 0  # only the owner may wait for it
        for file in (*self._pipes(), self._log):
            with contextlib.suppress(OSError):
                file.close()

    def _handshake(self, python: str | None) -> None:
        """Read the first message, and check that the process is a worker of the same version."""
        try:
            with self._deadline(START_SECONDS):
                hello = receive(self._pipes()[1], Hello)
        except (EOFError, OSError, msgspec.DecodeError) as error:
            self.kill()
            raise WorkerError(f"failed: {self._why_it_did_not_start(python)}") from error
        if hello.version != read_version():
            raise WorkerError(
                f"failed: modeldiagrams is {read_version()} here, but {hello.version} in the"
                f" environment of {python}; install the same version in both"
            )
        self._libraries = hello.libraries

    def _why_it_did_not_start(self, python: str | None) -> str:
        last, status = self.printed().strip().rpartition("\n")[2], self._child.returncode or 0
        if self._is_late:
            return f"the process did not start within {START_SECONDS:g} s; is this machine very busy?"
        if status < 0 and not last:
            return f"the process was killed by signal {_name_signal(-status)} when it started"
        return (
            f"expected modeldiagrams {read_version()} in the environment of {python or sys.executable},"
            f" but its `-m modeldiagrams.worker` ended ({last or 'no output'}); install it there"
        )

    @contextlib.contextmanager
    def _deadline(self, seconds: float) -> Iterator[None]:
        """Kill the process if the block takes longer, because not all platforms support timeouts of reads."""
        answered = threading.Event()
        watch = threading.Thread(target=self._watch, args=[answered, seconds], daemon=True)
        watch.start()
        try:
            yield
        finally:
            answered.set()
            watch.join()

    def _watch(self, answered: threading.Event, seconds: float) -> None:
        """Kill the process at the deadline, and keep its output from filling the disk."""
        end = time.monotonic() + seconds
        while not answered.wait(max(0, min(_POLL_INTERVAL, end - time.monotonic()))):
            if time.monotonic() >= end:
                self._is_late = True
                self.kill()
                return
            # the process keeps its position, so the file becomes sparse
            if getattr(os.fstat(self._log.fileno()), "st_blocks", 0) * _BLOCK > _LARGEST_LOG:
                self._log.truncate(0)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        return cast("IO[bytes]", self._child.stdin), cast("IO[bytes]", self._child.stdout)

    def _has_ended(self) -> bool:
        """Whether the process has ended; without reaping it if possible, which would free its id."""
        if not hasattr(os, "waitid"):
            return self._child.poll() is not None
        try:
            return os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def kill(self) -> None:
        """Kill the whole group, even if its first process has ended, because others may still run.

        Only once, because another group may have the id afterwards.
        """
        with self._lock:
            if self._killed:
                return
            self._killed = True
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(self._child.pid, signal.SIGKILL)
                else:
                    self._child.kill()
            self._child.wait()

    def printed(self) -> str:
        """Return the end of the log. The process shares the file position, so it is moved to the end again."""
        end = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, end - _LONGEST_OUTPUT))
        return self._log.read(_LONGEST_OUTPUT).lstrip(b"\0").decode(errors="replace")

    def _exit_error(self, request: Request, seconds: float) -> WorkerError:
        """Describe how the process ended, and where in user code."""
        crash = read_crash(self.printed(), self._libraries, self._path)
        status = self._child.returncode or 0
        if self._is_late or crash.is_timeout:
            limit = f"{request.limits.seconds:g} s" if isinstance(request, ModelRequest) else f"{seconds:g} s"
            hint = " (option `timeout`)" if isinstance(request, ModelRequest) else ""
            end = f"took longer than {limit} and was stopped{hint}"
        elif status < 0:
            end = f"ended the tracing process by signal {_name_signal(-status)}"
        else:
            end = f"ended the tracing process with exit status {status}"
        return WorkerError(end, crash.frames, tuple(crash.printed.splitlines()[-_SHOWN_LINES:]))


def make_problem(doing: str, error: WorkerError) -> Problem:
    """Turn the end of a process into a problem."""
    return Problem(kind="worker", message=f"{doing} {error}", frames=error.frames, printed=error.printed)


def _name_signal(number: int) -> str:
    """Return a signal's name, or its number for most real-time signals."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
