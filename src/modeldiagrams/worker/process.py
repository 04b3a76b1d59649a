"""One spawned process and the dialogue with it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, TYPE_CHECKING, TypeVar, cast

import msgspec

import modeldiagrams
from modeldiagrams.errors import WorkerError
from modeldiagrams.worker.crash import read_crash
from modeldiagrams.worker.protocol import Hello, Prepare, Request, Trace, receive, send

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Process"]

T = TypeVar("T")

_START = 60.0
"""Seconds until a process that has not said a word is given up."""

_LONGEST_OUTPUT = 20_000
"""Bytes of a model's output that are kept, from its end."""

_LARGEST_LOG = 10**8
"""Bytes of a model's output that may lie on the disk."""

_GLANCE = 1.0
"""Seconds between two looks at that."""

_BLOCK = 512
"""Bytes, of what `os.stat` counts a file's room in."""

_SHOWN_LINES = 12

_THREADS = "2"
"""A documentation build is not the only thing a machine does, and tracing computes next to nothing."""


class Process:
    """A tracing process from its start to its end."""

    def __init__(self, python: str | None, *, gpu: bool) -> None:
        """Start it.

        Args:
            python: The interpreter; None for the one that runs this.
            gpu: Whether the process may see one.

        Raises:
            WorkerError: if there is no such interpreter, or not our package of the same version in it.
        """
        self._owner = os.getpid()
        self.output = ""
        self._late = False
        self._killed = False
        self._lock = threading.Lock()
        self._path: tuple[str, ...] = ()
        self._libraries: tuple[str, ...] = ()
        self._log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  (closed in `end`)
        try:
            self._child = subprocess.Popen(  # noqa: S603  (the site's own interpreter)
                # unbuffered, so that the output tells of a sudden end
                [python or sys.executable, "-u", "-P", "-m", "modeldiagrams.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=_environment(gpu=gpu),
                start_new_session=True,
            )
        except OSError as error:
            self._log.close()
            reason = f"expected a Python interpreter, got {python!r}: {error.strerror}"
            raise WorkerError(f"failed: option `python`: {reason}") from error
        try:
            self._greet(python)
        except BaseException:
            self.end()
            raise

    def is_usable(self) -> bool:
        """Whether it was started by this very process and hasn't died since."""
        return self._owner == os.getpid() and not self._killed and not self._has_ended()

    def ask(self, request: Request, kind: type[T], seconds: float) -> T:
        """Send a request and wait for the answer.

        Raises:
            WorkerError: saying, without a subject, how the process ended instead.
        """
        if isinstance(request, Prepare):
            self._path = request.path
        try:
            self._log.seek(0)  # the process writes at the same position
            self._log.truncate()
            with self._patience(seconds):
                send(self._pipes()[0], request)
                return receive(self._pipes()[1], kind)
        except (EOFError, OSError, msgspec.DecodeError) as error:
            self.kill()
            raise self._obituary(request, seconds) from error
        finally:
            self.output = self._printed()

    def end(self) -> None:
        """End the process and its group; in a forked child of the owner only let go of it."""
        if self._owner == os.getpid():
            self.kill()
        elif self._child.returncode is None:
            self._child.returncode = 0  # it is not ours to wait for
        for file in (*self._pipes(), self._log):
            with contextlib.suppress(OSError):
                file.close()

    def _greet(self, python: str | None) -> None:
        """Read its first words, which tell whether it is one of ours."""
        try:
            with self._patience(_START):
                hello = receive(self._pipes()[1], Hello)
        except (EOFError, OSError, msgspec.DecodeError) as error:
            self.kill()
            last = self._printed().strip().rpartition("\n")[2] or "it said nothing"
            raise WorkerError(
                f"failed: expected modeldiagrams {modeldiagrams.__version__} in the environment of"
                f" {python or sys.executable}, but its `-m modeldiagrams.worker` ended ({last}); install it there"
            ) from error
        if hello.version != modeldiagrams.__version__:
            raise WorkerError(
                f"failed: modeldiagrams is {modeldiagrams.__version__} here, but {hello.version} in the"
                f" environment of {python}; install the same version in both"
            )
        self._libraries = hello.libraries

    @contextlib.contextmanager
    def _patience(self, seconds: float) -> Iterator[None]:
        """Pipes have no time limit of their own on every platform, but reading ends when the process does."""
        answered = threading.Event()
        watch = threading.Thread(target=self._watch, args=[answered, seconds], daemon=True)
        watch.start()
        try:
            yield
        finally:
            answered.set()
            watch.join()

    def _watch(self, answered: threading.Event, seconds: float) -> None:
        """Kill the process when its time is over, and keep what it prints from filling the disk."""
        end = time.monotonic() + seconds
        while not answered.wait(max(0, min(_GLANCE, end - time.monotonic()))):
            if time.monotonic() >= end:
                self._late = True
                self.kill()
                return
            # it goes on writing where it is, so what lies before takes no room any more (where files can have holes)
            if getattr(os.fstat(self._log.fileno()), "st_blocks", 0) * _BLOCK > _LARGEST_LOG:
                self._log.truncate(0)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        return cast("IO[bytes]", self._child.stdin), cast("IO[bytes]", self._child.stdout)

    def _has_ended(self) -> bool:
        """Whether the first process of the group has; where possible without reaping it, which sets its number free."""
        if not hasattr(os, "waitid"):
            return self._child.poll() is not None
        try:
            return os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def kill(self) -> None:
        """Kill the whole group, also when its first process has ended already: the others may go on.

        Once only: afterwards another group may have the number.
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

    def _printed(self) -> str:
        """The log's end. Its position is shared with the process, which goes on writing there: leave it at the end."""
        end = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, end - _LONGEST_OUTPUT))
        return self._log.read(_LONGEST_OUTPUT).lstrip(b"\0").decode(errors="replace")

    def _obituary(self, request: Request, seconds: float) -> WorkerError:
        """How the process ended, in one sentence, and where in user code it was."""
        crash = read_crash(self._printed(), self._libraries, self._path)
        status = self._child.returncode
        if self._late or crash.is_timeout:
            given = f"{request.timeout:g} s" if isinstance(request, Trace) else f"{seconds:g} s"
            hint = " (option `timeout`)" if isinstance(request, Trace) else ""
            end = f"took longer than {given} and was stopped{hint}"
        elif status < 0:
            end = f"ended the tracing process by signal {_signal_name(-status)}"
        else:
            end = f"ended the tracing process with exit status {status}"
        said = "".join(f"\n  {line}" for line in crash.printed.splitlines()[-_SHOWN_LINES:])
        return WorkerError(f"{end}{'; its last output:' if said else ''}{said}", crash.frames)


def _signal_name(number: int) -> str:
    """Most signals for programs' own use have no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _environment(*, gpu: bool) -> dict[str, str]:
    """Variables of the process: models iterate over sets, too; and no GPU is touched unless one was asked for."""
    limits = {"OMP_NUM_THREADS": _THREADS, "MKL_NUM_THREADS": _THREADS}
    hidden = {} if gpu else {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    return {**limits, **os.environ, **hidden, "PYTHONHASHSEED": "0"}
