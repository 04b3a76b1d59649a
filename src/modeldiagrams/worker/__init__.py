"""Tracing and drawing in a process of their own, so that nothing a model does can hurt the build.

The process is spawned, not forked (a forked child hangs in torch once its parent ran an op), started at the first
need and reused for many models. It is started anew after it died, in a forked child of the process that started it, and
after a source file it had loaded was edited.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, TypeVar, cast

import msgspec

from modeldiagrams.errors import RenderError, WorkerError
from modeldiagrams.worker.protocol import (
    Drawn,
    Kind,
    Mode,
    Problem,
    Refused,
    Render,
    Request,
    Trace,
    Traced,
    receive,
    send,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.options import Options
    from modeldiagrams.render import Picture, View

__all__ = ["Kind", "Mode", "Problem", "Refused", "Traced", "Worker"]

T = TypeVar("T")

_LONGEST_OUTPUT = 20_000
"""Bytes of a model's output that are kept, from its end."""

_SHOWN_LINES = 12

# unions are types to msgspec, not to mypy
_TRACED: Any = Traced | Refused
_DRAWN: Any = Drawn | Refused


class Worker:
    """A tracing process, started when it is needed. Use it with ``with``, or `close` it."""

    def __init__(self, *, timeout: float = 600.0) -> None:
        """Start nothing yet.

        Args:
            timeout: Seconds one request may take.
        """
        self._timeout = timeout
        self._process: _Process | None = None
        self._loaded: dict[str, object] = {}
        self.output = ""
        """What the model of the last request printed."""

    def trace(self, options: Options, paths: Sequence[Path] = (), mode: Mode = "auto") -> Traced | Refused:
        """Make a model and record one forward pass.

        Args:
            options: The model and its inputs.
            paths: Folders to import from, before those of this process.
            mode: As for `modeldiagrams.trace`.

        Returns:
            The graph, or why there is none.

        Raises:
            WorkerError: if the process died or took too long.
        """
        if any(_stamp(file) != stamp for file, stamp in self._loaded.items()):
            self.close()  # Python would go on with the modules as they were
        path = tuple(str(Path(entry).absolute()) for entry in [*map(str, paths), *sys.path])
        request = Trace(options=options, mode=mode, path=path)
        answer: Traced | Refused = self._ask(request, _TRACED, f"tracing {options.model}")
        self._loaded |= {file: _stamp(file) for file in answer.sources}
        return answer

    def render(self, graph: bytes, view: View) -> Picture:
        """Draw a graph.

        Args:
            graph: Its JSON text.
            view: What is expanded, and in which direction it runs.

        Returns:
            The picture.

        Raises:
            RenderError: if it can't be drawn.
            WorkerError: if the process died or took too long.
        """
        answer: Drawn | Refused = self._ask(Render(graph=graph, view=view), _DRAWN, "drawing")
        if isinstance(answer, Refused):
            raise RenderError(answer.problem.message)
        return answer.picture

    def close(self) -> None:
        """End the process, and every process that a model has started in it."""
        process, self._process = self._process, None
        self._loaded = {}
        if process is not None:
            process.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, request: Request, kind: type[T], doing: str) -> T:
        if self._process is None or not self._process.is_usable():
            self.close()
            self._process = _Process()
        process = self._process
        try:
            return process.ask(request, kind, self._timeout)
        except WorkerError as error:
            self.close()
            said = "".join(f"\n  {line}" for line in process.output.splitlines()[-_SHOWN_LINES:])
            raise WorkerError(f"{doing} {error}{'; its last output:' if said else ''}{said}") from error
        except BaseException:
            self.close()  # an interrupted dialogue can't be taken up again
            raise
        finally:
            self.output = process.output


class _Process:
    """One spawned process and the dialogue with it."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self.output = ""
        self._late = False
        self._log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  (closed in `end`)
        self._child = subprocess.Popen(
            # unbuffered and with the fault handler on, so that the output tells of a sudden end
            [sys.executable, "-u", "-P", "-X", "faulthandler", "-m", "modeldiagrams.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "PYTHONHASHSEED": "0"},  # models iterate over sets, too
            start_new_session=True,
        )

    def is_usable(self) -> bool:
        """Whether it was started by this very process and hasn't died since."""
        return self._owner == os.getpid() and self._child.poll() is None

    def ask(self, request: Request, kind: type[T], timeout: float) -> T:
        """Send a request and wait for the answer."""
        requests, answers = self._pipes()
        start = self._log.seek(0, os.SEEK_END)
        # pipes have no time limit of their own on every platform, but reading ends when the process does
        timer = threading.Timer(timeout, self._time_out)
        timer.start()
        try:
            send(requests, request)
            return receive(answers, kind)
        except (EOFError, OSError, msgspec.DecodeError) as error:
            self._kill()
            raise WorkerError(self._obituary(timeout)) from error
        finally:
            timer.cancel()
            self.output = self._printed_since(start)

    def end(self) -> None:
        """End the process and its group; in a forked child of the owner only let go of it."""
        if self._owner == os.getpid():
            self._kill()
        elif self._child.returncode is None:
            self._child.returncode = 0  # it is not ours to wait for
        for file in (*self._pipes(), self._log):
            with contextlib.suppress(OSError):
                file.close()

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        return cast("IO[bytes]", self._child.stdin), cast("IO[bytes]", self._child.stdout)

    def _time_out(self) -> None:
        self._late = True
        self._kill()

    def _kill(self) -> None:
        """Kill the whole group; a process that is ending already keeps its own exit status."""
        if self._child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                if hasattr(os, "killpg"):
                    os.killpg(self._child.pid, signal.SIGKILL)
                else:
                    self._child.kill()
            self._child.wait()

    def _printed_since(self, start: int) -> str:
        """The log's end. Its position is shared with the process, which goes on writing there: leave it at the end."""
        end = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(start, end - _LONGEST_OUTPUT))
        return self._log.read(_LONGEST_OUTPUT).decode(errors="replace")

    def _obituary(self, timeout: float) -> str:
        """How the process ended, in one sentence."""
        status = self._child.returncode
        if self._late:
            return f"took longer than {timeout:g} s and was stopped"
        if status < 0:
            return f"ended the tracing process by signal {signal.Signals(-status).name}"
        return f"ended the tracing process with exit status {status}"


def _stamp(file: str) -> object:
    """Changes when the file does."""
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
