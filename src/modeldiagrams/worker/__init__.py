"""Traces and draws in a process of its own, so that no model can break the build.

The process is spawned, not forked (a forked child hangs in torch once its parent ran an op). It starts when the first
request needs it, or ahead of that (`Worker.renew`), and serves many models. A new one replaces it after it died, in a
forked child of the process that started it, after an edit of a source file it had loaded, and after a model with side
effects.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from modeldiagrams.common.user_files import is_library
from modeldiagrams.errors import RenderError, WorkerError
from modeldiagrams.options.options import package_of
from modeldiagrams.worker.process import Process
from modeldiagrams.worker.protocol import (
    NO_TORCH,
    Drawn,
    DrawnFile,
    Kind,
    Mode,
    Prepare,
    Problem,
    Ready,
    Refused,
    Render,
    RenderFile,
    Request,
    Trace,
    Traced,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.options.options import Options, View
    from modeldiagrams.render.draw import Picture, Theme
    from modeldiagrams.render.picture_file import FileForm, PictureFile

__all__ = ["NO_TORCH", "Kind", "Mode", "Problem", "Refused", "Traced", "Worker"]

_SETUP_TIMEOUT = 120.0
"""Seconds for importing torch and for drawing, which no option limits."""

_POLL_INTERVAL = 0.05
"""Seconds between two checks for a process to kill."""

_EXIT_MARGIN = 5.0
"""Seconds for the process to end itself after a timeout, because it logs where it was."""

T = TypeVar("T")

# unions are types to msgspec, not to mypy
_READY: Any = Ready | Refused
_TRACED: Any = Traced | Refused
_DRAWN: Any = Drawn | Refused
_DRAWN_FILE: Any = DrawnFile | Refused


class Worker:
    """A tracing process, started when it is needed. Use it with ``with``, or `close` it."""

    def __init__(self, python: str | None = None, *, gpu: bool = False) -> None:
        """Start nothing yet.

        Args:
            python: The interpreter to run, of another environment than this process's.
            gpu: Whether models may see a GPU.
        """
        self._python = python
        self._gpu = gpu
        self._process: Process | None = None
        self._loaded: dict[str, object] = {}
        self._tainted_by: str | None = None
        """The package whose import changed the process; empty if a model's run did, None if nothing did."""
        self._traced_with: tuple[str, ...] | None = None
        """The import path of the last model; None if a new process is ready since then."""
        self._preparation: threading.Thread | None = None
        self.output = ""
        """What the model of the last request printed."""

    def trace(self, options: Options, paths: Sequence[Path] = (), mode: Mode = "auto") -> Traced | Refused:
        """Make a model and record one forward pass.

        Args:
            options: The model, its inputs, and its limits.
            paths: Folders to import from, before those of this process.
            mode: As for `modeldiagrams.trace`.

        Returns:
            The graph, or why there is none.

        Raises:
            WorkerError: if the process died or took too long.
        """
        self._finish_preparation()
        call, limits = options.call, options.limits
        package = package_of(call.model)
        if self._is_stale(package):
            self._end()
        path = self._import_path(paths)
        ready: Ready | Refused = self._ask(Prepare(path=path), _READY, "importing PyTorch", _SETUP_TIMEOUT)
        if isinstance(ready, Refused):
            return ready
        self._traced_with = path
        request = Trace(call=call, limits=limits, mode=mode)
        answer: Traced | Refused = self._ask(request, _TRACED, f"tracing {call.model}", limits.seconds + _EXIT_MARGIN)
        self._loaded |= {file: _stamp(file) for file in answer.loaded}
        if answer.side_effects == "run":
            self._tainted_by = ""
        elif answer.side_effects == "import":
            self._tainted_by = package
        return answer

    def render(self, graph: bytes, view: View) -> Picture:
        """Draw a graph for a page.

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
        answer: Drawn | Refused = self._ask(Render(graph=graph, view=view), _DRAWN, "drawing", _SETUP_TIMEOUT)
        if isinstance(answer, Refused):
            raise RenderError(answer.problem.message)
        return answer.picture

    def render_file(self, graph: bytes, view: View, form: FileForm, theme: Theme = "light") -> PictureFile:
        """Draw a graph as a picture file.

        Args:
            graph: Its JSON text.
            view: What is expanded, and in which direction it runs.
            form: The file's format.
            theme: The colours.

        Returns:
            The file.

        Raises:
            RenderError: if it can't be drawn, or a library for the format is not installed.
            WorkerError: if the process died or took too long.
        """
        self._finish_preparation()
        request = RenderFile(graph=graph, view=view, form=form, theme=theme)
        answer: DrawnFile | Refused = self._ask(request, _DRAWN_FILE, "drawing", _SETUP_TIMEOUT)
        if isinstance(answer, Refused):
            raise RenderError(answer.problem.message)
        return answer.file

    def close(self) -> None:
        """End the process, and every process that a model started from it."""
        self._finish_preparation(wanted=False)
        self._end()

    def renew(self) -> None:
        """Replace the process if it ran a model; the new one imports PyTorch in the background."""
        self._finish_preparation()
        if self._traced_with is None:
            return
        request, self._traced_with = Prepare(path=self._traced_with), None
        self._end()
        self._preparation = threading.Thread(target=self._prepare, args=[request], daemon=True)
        self._preparation.start()

    def _prepare(self, request: Prepare) -> None:
        # the error comes again, and is reported, when a model needs the process
        with contextlib.suppress(WorkerError):
            self._ask(request, _READY, "importing PyTorch", _SETUP_TIMEOUT)

    def _finish_preparation(self, *, wanted: bool = True) -> None:
        thread, self._preparation = self._preparation, None
        while thread is not None and thread.is_alive():
            process = self._process
            if process is not None and not wanted:
                process.kill()
            thread.join(None if wanted else _POLL_INTERVAL)

    def _end(self) -> None:
        process, self._process = self._process, None
        self._loaded = {}
        self._tainted_by = None
        if process is not None:
            process.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _is_stale(self, package: str) -> bool:
        """Whether a fresh process could answer differently.

        Python keeps edited modules as they were. Side effects of importing a package also happen in a fresh process for
        the package's own models, but not for others.
        """
        if any(_stamp(file) != stamp for file, stamp in self._loaded.items()):
            return True
        return self._tainted_by is not None and self._tainted_by != package

    def _import_path(self, paths: Sequence[Path]) -> tuple[str, ...]:
        """Folders to import from; another environment has its own libraries."""
        own = [entry for entry in sys.path if not self._python or not is_library(entry)]
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
            self._end()  # the rest of an interrupted answer would be read as the next one
            raise
        finally:
            self.output = process.output if process else ""


def _stamp(file: str) -> object:
    """Changes when the file does."""
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
