"""Tracing and drawing in a process of their own, so that nothing a model does can hurt the build.

The process is spawned, not forked (a forked child hangs in torch once its parent ran an op), started at the first
need, or ahead of it (`Worker.renew`), and reused for many models. It is started anew after it died, in a forked child
of the process that started it, after a source file it had loaded was edited, and after a model that left something
behind in it.
"""

from __future__ import annotations

import contextlib
import site
import sys
import sysconfig
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from modeldiagrams.errors import RenderError, WorkerError
from modeldiagrams.worker.process import Process
from modeldiagrams.worker.protocol import (
    NO_TORCH,
    Drawn,
    Kind,
    Mode,
    Prepare,
    Problem,
    Ready,
    Refused,
    Render,
    Request,
    Trace,
    Traced,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.options import Options
    from modeldiagrams.render import Picture, View

__all__ = ["MEMORY", "NO_TORCH", "TIMEOUT", "Kind", "Mode", "Problem", "Refused", "Traced", "Worker"]

TIMEOUT = 60.0
"""Seconds a model may take, if its author says nothing else."""

MEMORY = 4.0
"""GB a model may take, if its author says nothing else."""

_PATIENCE = 120.0
"""Seconds for what is not the model's: importing torch, drawing (which has a limit of its own)."""

_MOMENT = 0.05
"""Seconds between two looks whether there is something to end by now."""

_GRACE = 5.0
"""Seconds for the process to end by itself after a model's time is over: it tells where it was."""

_ZIP = f"python{sys.version_info[0]}{sys.version_info[1]}.zip"
"""Python's own modules, where they are packed."""

_MOST = 10.0**6
"""Seconds, and GB: for ever and everything, in numbers that every operating system takes."""

T = TypeVar("T")

# unions are types to msgspec, not to mypy
_READY: Any = Ready | Refused
_TRACED: Any = Traced | Refused
_DRAWN: Any = Drawn | Refused


class Worker:
    """A tracing process, started when it is needed. Use it with ``with``, or `close` it."""

    def __init__(self, python: str | None = None, *, gpu: bool = False) -> None:
        """Start nothing yet.

        Args:
            python: The interpreter to run, of another environment than this process's.
            gpu: Whether models may see one.
        """
        self._python = python
        self._gpu = gpu
        self._process: Process | None = None
        self._loaded: dict[str, object] = {}
        self._worn_for: str | None = None
        self._traced_with: tuple[str, ...] | None = None
        """Where the last model was imported from, unless a process was made ready since then."""
        self._preparation: threading.Thread | None = None
        self.output = ""
        """What the model of the last request printed."""

    def trace(self, options: Options, paths: Sequence[Path] = (), mode: Mode = "auto") -> Traced | Refused:
        """Make a model and record one forward pass.

        Args:
            options: The model, its inputs, and what it may take.
            paths: Folders to import from, before those of this process.
            mode: As for `modeldiagrams.trace`.

        Returns:
            The graph, or why there is none.

        Raises:
            WorkerError: if the process died or took too long.
        """
        self._finish_preparation()
        package = options.model.partition(":")[0].partition(".")[0]
        if self._is_stale(package):
            self._end()
        path = self._import_path(paths)
        ready: Ready | Refused = self._ask(Prepare(path=path), _READY, "importing PyTorch", _PATIENCE)
        if isinstance(ready, Refused):
            return ready
        self._traced_with = path
        timeout = min(options.timeout or TIMEOUT, _MOST)
        request = Trace(options=options, mode=mode, timeout=timeout, memory=min(options.memory or MEMORY, _MOST))
        answer: Traced | Refused = self._ask(request, _TRACED, f"tracing {options.model}", timeout + _GRACE)
        self._loaded |= {file: _stamp(file) for file in answer.loaded}
        if answer.lasting == "run":
            self._worn_for = ""
        elif answer.lasting == "import":
            self._worn_for = package
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
        self._finish_preparation()
        answer: Drawn | Refused = self._ask(Render(graph=graph, view=view), _DRAWN, "drawing", _PATIENCE)
        if isinstance(answer, Refused):
            raise RenderError(answer.problem.message)
        return answer.picture

    def close(self) -> None:
        """End the process, and every process that a model has started in it."""
        self._finish_preparation(wanted=False)
        self._end()

    def renew(self) -> None:
        """As `close`, if a model was run; the next process imports PyTorch meanwhile, before it is needed."""
        self._finish_preparation()
        if self._traced_with is None:
            return
        request, self._traced_with = Prepare(path=self._traced_with), None
        self._end()
        self._preparation = threading.Thread(target=self._prepare, args=[request], daemon=True)
        self._preparation.start()

    def _prepare(self, request: Prepare) -> None:
        # what is wrong will come again when a model is to run, and is told then
        with contextlib.suppress(WorkerError):
            self._ask(request, _READY, "importing PyTorch", _PATIENCE)

    def _finish_preparation(self, *, wanted: bool = True) -> None:
        thread, self._preparation = self._preparation, None
        while thread is not None and thread.is_alive():
            process = self._process
            if process is not None and not wanted:
                process.kill()
            thread.join(None if wanted else _MOMENT)

    def _end(self) -> None:
        process, self._process = self._process, None
        self._loaded = {}
        self._worn_for = None
        if process is not None:
            process.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _is_stale(self, package: str) -> bool:
        """Whether a fresh process could answer otherwise.

        Python would go on with edited modules as they were; and what the import of a package changed, its own models
        would find in a fresh process, too, but others would not.
        """
        if any(_stamp(file) != stamp for file, stamp in self._loaded.items()):
            return True
        return self._worn_for is not None and self._worn_for != package

    def _import_path(self, paths: Sequence[Path]) -> tuple[str, ...]:
        """Folders to import from; another environment has its own libraries."""
        own = [entry for entry in sys.path if not self._python or not _is_library(Path(entry))]
        return tuple(str(Path(entry).absolute()) for entry in [*map(str, paths), *own])

    def _ask(self, request: Request, kind: type[T], doing: str, seconds: float) -> T:
        if self._process is None or not self._process.is_usable():
            self._end()
        process = self._process
        try:
            if process is None:
                process = self._process = Process(self._python, gpu=self._gpu)
            return process.ask(request, kind, seconds)
        except WorkerError as error:
            self._end()
            raise WorkerError(f"{doing} {error}", error.frames) from error
        except BaseException:
            self._end()  # an interrupted dialogue can't be taken up again
            raise
        finally:
            self.output = process.output if process else ""


def _is_library(entry: Path) -> bool:
    """Whether an entry of ``sys.path`` belongs to this interpreter: its own modules, or what is installed for it."""
    own = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders = [Path(folder) for folder in (*own, *site.getsitepackages(), site.getusersitepackages())]
    return entry.name == _ZIP or any(folder == entry or folder in entry.parents for folder in folders)


def _stamp(file: str) -> object:
    """Changes when the file does."""
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
