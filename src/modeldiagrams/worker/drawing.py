"""Draws graphs in a separate process, without models and torch."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar

from modeldiagrams.errors import RenderError, WorkerError
from modeldiagrams.render.draw import build_difference, draw_card, render_json
from modeldiagrams.render.picture_file import convert_image, render_file
from modeldiagrams.worker.process import SETUP_SECONDS, Process
from modeldiagrams.worker.protocol import (
    Answer,
    Drawn,
    DrawnCard,
    DrawnFile,
    FindDifference,
    FoundDifference,
    Refused,
    Render,
    RenderCard,
    RenderFile,
    RenderImage,
    Request,
)

if TYPE_CHECKING:
    from modeldiagrams.options.options import View
    from modeldiagrams.render.draw import Beside, Picture, Theme
    from modeldiagrams.render.picture_file import FileForm, PictureFile

__all__ = ["Drawer", "draw"]

T = TypeVar("T")

# unions are types to msgspec, not to mypy
_DRAWN: Any = Drawn | Refused
_DRAWN_CARD: Any = DrawnCard | Refused
_DRAWN_FILE: Any = DrawnFile | Refused
_COMPARED: Any = FoundDifference | Refused


def draw(request: Request, _log: int = 2) -> Answer:
    """Answer a request for a picture."""
    match request:
        case Render():
            return Drawn(picture=render_json(request.graph, request.view, beside=request.beside))
        case RenderCard():
            return DrawnCard(svg=draw_card(request.graph))
        case RenderFile():
            return DrawnFile(file=render_file(request.graph, request.view, request.form, request.theme, request.beside))
        case RenderImage():
            return DrawnFile(file=convert_image(request.svg, request.width, request.height, request.form))
        case FindDifference():
            return FoundDifference(difference=build_difference(request.before, request.after))
        case _:
            raise TypeError(f"expected a graph to draw, got {request!r}")


class Drawer:
    """Manages a drawing process, started when needed."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._lock = threading.Lock()

    def render(self, graph: bytes, view: View, beside: Beside | None = None) -> Picture:
        """Draw a graph for a page.

        Args:
            graph: The graph's JSON text.
            view: The initial view.
            beside: Content of the picture in addition to the graph.

        Returns:
            The picture.

        Raises:
            RenderError: if it can't be drawn.
            WorkerError: if the process died or took too long.
        """
        answer: Drawn = self._ask(Render(graph=graph, view=view, beside=beside), _DRAWN)
        return answer.picture

    def render_card(self, graph: bytes) -> str:
        """Draw a graph for a list of models; see `draw_card`.

        Raises:
            RenderError: if it can't be drawn.
            WorkerError: if the process died or took too long.
        """
        answer: DrawnCard = self._ask(RenderCard(graph=graph), _DRAWN_CARD)
        return answer.svg

    def render_file(
        self, graph: bytes, view: View, form: FileForm, theme: Theme = "light", beside: Beside | None = None
    ) -> PictureFile:
        """Draw a graph as a picture file.

        Args:
            graph: The graph's JSON text.
            view: The initial view.
            form: The file's format.
            theme: The colours.
            beside: As in `render`.

        Returns:
            The file.

        Raises:
            RenderError: if it can't be drawn, or a library for the format is not installed.
            WorkerError: if the process died or took too long.
        """
        answer: DrawnFile = self._ask(
            RenderFile(graph=graph, view=view, form=form, theme=theme, beside=beside), _DRAWN_FILE
        )
        return answer.file

    def render_image(self, svg: str, width: float, height: float, form: FileForm) -> PictureFile:
        """Convert an author's SVG to another format; see `convert_image`.

        Raises:
            RenderError: if it can't be converted, or a library for the format is not installed.
            WorkerError: if the process died or took too long.
        """
        request = RenderImage(svg=svg, width=width, height=height, form=form)
        answer: DrawnFile = self._ask(request, _DRAWN_FILE)
        return answer.file

    def difference(self, before: bytes, after: bytes) -> str:
        """Find what changed between two graphs, as JSON text.

        Raises:
            RenderError: if they can't be compared.
            WorkerError: if the process died or took too long.
        """
        answer: FoundDifference = self._ask(FindDifference(before=before, after=after), _COMPARED)
        return answer.difference

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.end()

    def _ask(self, request: Request, kind: type[T]) -> T:
        with self._lock:
            try:
                answer = self._usable_process().ask(request, kind, SETUP_SECONDS)
            except BaseException as error:
                self.close()  # the rest of an interrupted answer would be read as the next one
                if isinstance(error, WorkerError):
                    raise WorkerError(f"drawing {error}", error.frames) from error
                raise
        if isinstance(answer, Refused):
            raise RenderError(answer.problem.message)
        return answer

    def _usable_process(self) -> Process:
        if self._process is not None and not self._process.is_usable():
            self.close()
        if self._process is None:
            self._process = Process.spawn("draw")
        return self._process
