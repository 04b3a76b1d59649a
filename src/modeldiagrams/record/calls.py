"""The file of recorded calls, `model-calls.yaml` next to the configuration of the documentation."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.common.files import write_atomically
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.call import RecordedCall
from modeldiagrams.options.reading import read_yaml, yaml_line
from modeldiagrams.options.settings import CALLS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from modeldiagrams.options.call import Call

__all__ = ["calls_file", "documentation_in", "is_open", "read_calls", "recorded_graph", "with_recorded", "write_calls"]

_FOLDERS = ("", "docs", "doc", "docs/source", "doc/source", "documentation", "website")
_HEAD = "# How tests and examples call the models, for diagrams without options; written by `modeldiagrams record`.\n"


def documentation_in(project: Path) -> Path | None:
    """The folder of ``conf.py`` or ``mkdocs.yml`` of a project; None if there is none where it usually is."""
    files = (project / folder / name for folder in _FOLDERS for name in ("conf.py", "mkdocs.yml"))
    return next((file.parent for file in files if file.is_file()), None)


_CHOICES = (
    *("args", "kwargs", "config", "inputs", "inputs_from", "method", "cases"),
    *("mode", "training", "part", "measure_time", "explore"),
)
"""Options of which each asks for another graph than the recorded one."""


def calls_file(project: Path) -> Path:
    """The file of calls of a project, whether it exists or not."""
    return (documentation_in(project) or project) / CALLS


def read_calls(file: Path) -> dict[str, RecordedCall]:
    """Class → its call; nothing where there is no file.

    Raises:
        ModelDiagramsError: if the file is not as `write_calls` writes it.
    """
    try:
        status = file.stat()
    except OSError:
        return {}
    return _read(file, (status.st_mtime_ns, status.st_size))


@functools.lru_cache(maxsize=16)
def _read(file: Path, _stamp: tuple[int, int]) -> dict[str, RecordedCall]:
    try:
        return msgspec.convert(read_yaml(file.read_text("utf-8")) or {}, decodable(dict[str, RecordedCall]))
    except (ModelDiagramsError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise ModelDiagramsError(
            f"{file.name} can't be read ({error}); record the calls again (`modeldiagrams record`), or correct the file"
        ) from error


def write_calls(file: Path, calls: Mapping[str, RecordedCall]) -> None:
    """Write the file, sorted; the same calls give the same bytes."""
    lines = [_HEAD]
    for name, call in sorted(calls.items()):
        lines += [f"{name}:\n", *(f"  {key}: {yaml_line(value)}\n" for key, value in msgspec.to_builtins(call).items())]
    write_atomically(file, "".join(lines).encode())


def is_open(call: Call) -> bool:
    """Whether the author leaves arguments or inputs open."""
    has_arguments = (call.args, call.kwargs, call.config) != (None, None, None)
    return not (has_arguments and (call.inputs, call.inputs_from) != (None, None))


def with_recorded(call: Call, file: Path) -> Call:
    """A call with what was recorded of classes of this name, as a package may export the class by a shorter path.

    Args:
        call: What the author wrote.
        file: The file of recorded calls, whether it exists or not.

    Raises:
        ModelDiagramsError: as `read_calls`.
    """
    name = _last_name(call.model)
    known = read_calls(file).items() if is_open(call) else ()
    found = {class_: recorded for class_, recorded in known if _last_name(class_) == name}
    return msgspec.structs.replace(call, recorded=found) if found else call


def recorded_graph(call: Call, file: Path) -> Path | None:
    """The graph file of a call that was traced where it was seen; None if the author asks for another one.

    Args:
        call: As `with_recorded` returns it.
        file: The file of recorded calls.
    """
    chosen = (getattr(call, name) for name in _CHOICES)
    if any(value is not None and value is not False for value in chosen):
        return None
    name = call.model.replace(":", ".")
    package = f"{name.rpartition('.')[0]}."
    recorded = call.recorded or {}
    exported = [found for class_, found in recorded.items() if class_.startswith(package)]
    found = recorded.get(name) or (exported[0] if len(exported) == 1 else None)
    return file.parent / found.graph if found and found.graph else None


def _last_name(path: str) -> str:
    return path.replace(":", ".").rpartition(".")[2]
