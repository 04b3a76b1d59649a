"""Reads recordings of a model's trainings for its diagram."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams import watching
from modeldiagrams.common.files import digest
from modeldiagrams.engine.diagram import add_problem
from modeldiagrams.engine.store import take_or_make
from modeldiagrams.errors import ModelDiagramsError, OptionError, RecordingError
from modeldiagrams.ir.documents import make_schema
from modeldiagrams.watching.growing_file import GrowingRecording
from modeldiagrams.watching.page import (
    MOST_MOMENTS,
    PER_OCTAVE,
    VERSION,
    WITH_HEAT,
    PageRecording,
    build_page_recording,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.engine.store import Store
    from modeldiagrams.ir.graph import Graph

__all__ = ["LiveRecording", "PageRecording", "add_recordings", "build_schema", "list_named_files", "read_recordings"]

_NAMED = 5
"""The maximum number of ids of each side in a message."""


def add_recordings(diagram: Diagram, folder: Path, store: Store | None) -> Diagram:
    """Add the recordings named in the options to a diagram, or a problem with them."""
    names = diagram.options.figure.recording
    graph = diagram.graph
    if not names or graph is None:
        return diagram
    files = [(folder / name).absolute() for name in names]
    sources = (*diagram.sources, *(str(file) for file in files if file.is_file()))
    diagram = msgspec.structs.replace(diagram, sources=sources)
    try:
        found = read_recordings(graph, dict(zip(names, files, strict=True)), store)
    except ModelDiagramsError as error:
        return add_problem(diagram, OptionError("recording", str(error)))
    return msgspec.structs.replace(diagram, recordings=found)


def list_named_files(given: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None) -> dict[str, Path]:
    """Return one or several files by name."""
    if given is None:
        return {}
    several = [given] if isinstance(given, str | os.PathLike) else given
    return {os.fspath(file): Path(file) for file in several}


def read_recordings(graph: Graph, files: dict[str, Path], store: Store | None = None) -> tuple[PageRecording, ...]:
    """Read recordings and reduce them for a page.

    Args:
        graph: The graph of the trained model.
        files: The files by the name that messages use.
        store: Keeps reduced recordings.

    Raises:
        RecordingError: if a file is not a recording of this model.
    """
    return tuple(_reduce(graph, name, file, store) for name, file in files.items())


def build_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a recording in a page."""
    return make_schema(PageRecording, f"modeldiagrams recording in a page, format version {VERSION}")


def _reduce(graph: Graph, name: str, file: Path, store: Store | None) -> PageRecording:
    key = _make_key(file, [node.id for node in graph.nodes]) if store else None
    read = LiveRecording(graph, file, name).read
    page = take_or_make(store if key else None, f"{key}.recording", PageRecording, lambda: read()[1])
    _check_model(graph, name, page)
    return page


class LiveRecording:
    """Reads a recording for a page during the training."""

    def __init__(self, graph: Graph, file: Path, name: str = "") -> None:
        """Prepare to read; messages use `name` or else the file's name."""
        self._graph, self._file, self._name = graph, file, name or file.name
        self._growing = GrowingRecording(file, MOST_MOMENTS, PER_OCTAVE, WITH_HEAT)

    def read(self) -> tuple[int, PageRecording]:
        """Read new data; return the position in the file and the recording so far.

        Raises:
            RecordingError: if the file is not a recording of this model.
        """
        try:
            recording = self._growing.read()
        except RecordingError as error:
            raise RecordingError(str(error).replace(str(self._file), self._name)) from error
        page = build_page_recording(recording, self._file.name, [node.id for node in self._graph.nodes])
        _check_model(self._graph, self._name, page)
        return self._growing.position, page


def _make_key(file: Path, nodes: Sequence[str]) -> str | None:
    """Compute the digest of a reduced recording's inputs; None if the file can't be read."""
    try:
        return digest(file.read_bytes(), file.name.encode(), msgspec.json.encode(nodes), _digest_own_code())
    except OSError:
        return None


@cache
def _digest_own_code() -> bytes:
    """Compute a digest of the code that reduces recordings, which may change without a new version."""
    files = sorted(Path(watching.__file__).parent.rglob("*.py"))
    return digest(*(file.read_bytes() for file in files)).encode()


def _check_model(graph: Graph, name: str, page: PageRecording) -> None:
    """Check that a recording has more nodes of the graph than the model itself."""
    if not page.strangers or any(tensor.node for tensor in page.tensors):
        return
    own = [node.id for node in graph.nodes if node.kind == "module"]
    raise RecordingError(
        f"{name} is a recording of another model: it has values of {_format_some(page.strangers)}, and the modules of"
        f" {graph.model.name} are {_format_some(own)}"
    )


def _format_some(ids: Sequence[str]) -> str:
    rest = len(ids) - _NAMED
    return ", ".join(ids[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
