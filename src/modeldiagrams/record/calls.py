"""The file of recorded calls, `model-calls.yaml` next to the configuration of the documentation."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.common.files import write_atomically
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.call import RecordedCall
from modeldiagrams.options.reading import read_yaml, yaml_line
from modeldiagrams.options.settings import CALLS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from modeldiagrams.options.call import Call

__all__ = [
    "GRAPHS",
    "Calls",
    "calls_file",
    "documentation_in",
    "is_open",
    "merge",
    "read_calls",
    "recorded_graph",
    "with_recorded",
    "write_calls",
]

GRAPHS = "model-calls"
"""The folder next to it, with the graphs of calls that can't be written."""

_CONFIGURATIONS = ("conf.py", "mkdocs.yml")
_FOLDERS = ("", "docs", "doc", "docs/source", "doc/source", "documentation", "website")

Calls = dict[str, RecordedCall]
"""Class → its call."""

_HEAD = "# How tests and examples call the models, for diagrams without options; written by `modeldiagrams record`.\n"


def documentation_in(project: Path) -> Path | None:
    """The folder of ``conf.py`` or ``mkdocs.yml`` of a project; None if there is none where it usually is."""
    folders = (project / folder for folder in _FOLDERS)
    return next((folder for folder in folders for name in _CONFIGURATIONS if (folder / name).is_file()), None)


def calls_file(project: Path) -> Path:
    """The file of calls of a project, whether it exists or not."""
    return (documentation_in(project) or project) / CALLS


def read_calls(file: Path) -> Calls:
    """Read the file; no calls where there is no file.

    Raises:
        ModelDiagramsError: if it has not the form that `write_calls` gives it.
    """
    try:
        status = file.stat()
    except OSError:
        return {}
    return _read(file, (status.st_mtime_ns, status.st_size))


@functools.lru_cache(maxsize=16)
def _read(file: Path, _stamp: tuple[int, int]) -> Calls:
    try:
        return msgspec.convert(read_yaml(file.read_text("utf-8")) or {}, Calls)
    except (ModelDiagramsError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise ModelDiagramsError(
            f"{file.name} can't be read ({error}); record the calls again (`modeldiagrams record`), or correct the file"
        ) from error


def write_calls(file: Path, calls: Mapping[str, RecordedCall]) -> None:
    """Write the file, sorted; the same calls give the same bytes."""
    entries = (f"{name}:\n{_entry(call)}" for name, call in sorted(calls.items()))
    write_atomically(file, "".join([_HEAD, *entries]).encode())


def _entry(call: RecordedCall) -> str:
    values: dict[str, Any] = msgspec.to_builtins(call)
    return "".join(f"  {name}: {yaml_line(value)}\n" for name, value in values.items())


def merge(kept: Mapping[str, RecordedCall], found: Mapping[str, RecordedCall], ran: frozenset[str]) -> Calls:
    """What the file says after a run.

    Args:
        kept: What it said before.
        found: The calls of this run.
        ran: Files with tests or examples that this run ran, or that are gone: nothing that was seen there is kept.
    """
    kept = {name: call for name, call in kept.items() if call.file not in ran}
    better = {name: call for name, call in found.items() if name not in kept or call.rank < kept[name].rank}
    return {**kept, **better}


def is_open(call: Call) -> bool:
    """Whether the author leaves arguments or inputs open."""
    has_arguments = (call.args, call.kwargs, call.config) != (None, None, None)
    return not (has_arguments and (call.inputs, call.inputs_from) != (None, None))


def with_recorded(call: Call, file: Path) -> Call:
    """A call with what was recorded of classes of this name: a package may export the class by a shorter path.

    Args:
        call: What the author wrote.
        file: The file of recorded calls, whether it exists or not.

    Raises:
        ModelDiagramsError: as `read_calls`.
    """
    if not is_open(call):
        return call
    name = _last(call.model)
    found = {class_: recorded for class_, recorded in read_calls(file).items() if _last(class_) == name}
    return msgspec.structs.replace(call, recorded=found) if found else call


def recorded_graph(call: Call, file: Path) -> Path | None:
    """The graph file of a call that was traced where it was seen; None for another call.

    Args:
        call: What the author wrote, with what was recorded.
        file: The file of recorded calls.
    """
    recorded = call.recorded or {}
    found = recorded.get(call.model) or (next(iter(recorded.values())) if len(recorded) == 1 else None)
    return file.parent / found.graph if found and found.graph else None


def _last(path: str) -> str:
    return path.replace(":", ".").rpartition(".")[2]
