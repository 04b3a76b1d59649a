"""Runs the command whose calls are recorded, and writes down what its processes saw.

The command's environment tells pytest to record, and a script is run by `__main__` of this package. Each process leaves
a part in a folder; the parts are joined in the end, so it makes no difference how many processes there were.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.common.files import digest, write_atomically
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.call import RecordedCall  # noqa: TC001  (msgspec reads the annotation)
from modeldiagrams.options.settings import CALLS
from modeldiagrams.record.calls import documentation_in, read_calls, write_calls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Part", "RunSettings", "SeenCall", "current_run", "end_run", "merge", "run_command", "start_run"]

_VARIABLE = "MODELDIAGRAMS_RECORD"
"""The settings, for the processes of a run."""
_GRAPHS = "model-calls"
"""The folder next to the file of calls with the graphs of those that can't be written."""
_WAY_OUT = (
    "Name a function that returns the inputs (option `inputs_from`) or one that makes the model (option `model`), or "
    "keep the graph of this very call: `modeldiagrams record --snapshot`"
)


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is recorded, and where it goes."""

    folder: str
    """Of the documentation."""
    parts: str
    """Where processes leave what they saw."""
    only: tuple[str, ...] = ()
    """Patterns of names of classes."""
    all_classes: bool = False
    """Whether classes are recorded, too, that the documentation doesn't name."""
    snapshot: bool = False
    """Whether calls that can't be written are traced."""


class SeenCall(msgspec.Struct, frozen=True):
    """A call of a class."""

    key: tuple[int, bool, int, int]
    """Depth inside other module calls, whether in train mode, number of the test, number in the test."""
    call: RecordedCall
    problem: str = ""
    """Why it can't be written."""
    graph: str = ""
    """JSON of what was traced instead."""

    @property
    def order(self) -> tuple[bool, int, int, bool, int, int, str]:
        """Of several calls, the one where this is the least is the best."""
        return (bool(self.problem), self.call.rank, *self.key, self.call.seen)


class Part(msgspec.Struct):
    """What one process saw."""

    ran: list[str]
    """Tests, or the script, that ran."""
    seen: dict[str, SeenCall]
    """Class → its best call."""
    root: str
    """The folder to which their paths are relative."""

    def leave(self, settings: RunSettings) -> None:
        """Write it down for the end of the run."""
        content = msgspec.json.encode(self)
        write_atomically(Path(settings.parts, f"{digest(content)}.json"), content)


def start_run(
    folder: Path | None = None, *, only: Sequence[str] = (), all_classes: bool = False, snapshot: bool = False
) -> RunSettings:
    """Let this process and those that it starts record calls.

    Args:
        folder: Of the documentation; None looks for it below the current folder.
        only: As in `RunSettings`, as are the others.
        all_classes: True, too, where there is no documentation.
        snapshot: As above.
    """
    found = folder or documentation_in(Path.cwd())
    settings = RunSettings(
        folder=str((found or Path.cwd()).absolute()),
        parts=tempfile.mkdtemp(prefix="modeldiagrams-record-"),
        only=tuple(only),
        all_classes=all_classes or found is None,
        snapshot=snapshot,
    )
    os.environ[_VARIABLE] = msgspec.json.encode(settings).decode()
    return settings


def current_run() -> RunSettings | None:
    """The run to which this process belongs."""
    text = os.environ.get(_VARIABLE)
    return msgspec.json.decode(text, type=decodable(RunSettings)) if text else None


def run_command(command: Sequence[str]) -> int:
    """Run a command in which calls are recorded, after `start_run`; returns its exit status.

    Raises:
        ModelDiagramsError: if it can't be run, or runs no script.
    """
    more = "-p modeldiagrams --record-model-calls"
    os.environ["PYTEST_ADDOPTS"] = f"{os.environ.get('PYTEST_ADDOPTS', '')} {more}".strip()
    try:
        process = subprocess.Popen(_with_recorder([*command]))  # noqa: S603
    except OSError as error:
        raise ModelDiagramsError(f"{command[0]} can't be run: {error.strerror}") from error
    try:
        return process.wait()
    except KeyboardInterrupt:
        return process.wait()  # it was interrupted, too, and leaves what it saw


def _with_recorder(command: list[str]) -> list[str]:
    """A command that runs Python code with the recorder; pytest has a plugin for that."""
    if not Path(command[0]).name.startswith("python"):
        return command
    program = sys.executable if command[0] in {"python", "python3"} else command[0]  # the one that has this package
    first = next((at for at, word in enumerate(command) if at and (word[:1] != "-" or word in {"-m", "-c"})), 0)
    if not first or command[first] == "-c":
        raise ModelDiagramsError("expected a script or a module after `python`: `python examples/demo.py`")
    is_pytest = command[first : first + 2] == ["-m", "pytest"]
    return [program, *command[1:first], *([] if is_pytest else ["-m", __package__]), *command[first:]]


def end_run(settings: RunSettings) -> list[str]:
    """Write the calls that were recorded.

    Returns:
        What to tell: a line on the file, and one for each class whose calls can't be written.
    """
    parts = [
        msgspec.json.decode(path.read_bytes(), type=decodable(Part)) for path in Path(settings.parts).glob("*.json")
    ]
    best: dict[str, SeenCall] = {}
    for name, seen in (item for part in parts for item in part.seen.items()):
        best[name] = min(best.get(name, seen), seen, key=lambda one: one.order)
    file = Path(settings.folder, CALLS)
    for name, seen in best.items():
        if seen.graph:
            graph = f"{_GRAPHS}/{name}.json"
            write_atomically(file.parent / graph, seen.graph.encode())
            best[name] = SeenCall(seen.key, msgspec.structs.replace(seen.call, graph=graph))
    shutil.rmtree(settings.parts, ignore_errors=True)
    before, unreadable = _calls_before(file)
    roots = {part.root for part in parts}
    gone = {
        call.seen for call in before.values() if roots and not any(Path(root, call.file).exists() for root in roots)
    }
    written = {name: seen.call for name, seen in best.items() if not seen.problem}
    after = merge(before, written, gone.union(*(part.ran for part in parts)))
    if after or before:
        write_calls(file, after)
    refused = [(name, seen) for name, seen in sorted(best.items()) if name not in after]
    told = (f"{name} can't be written as {one.call.seen} calls it: {one.problem}. {_WAY_OUT}" for name, one in refused)
    return [*unreadable, _summary(settings, file, before, after), *told]


def _calls_before(file: Path) -> tuple[Mapping[str, RecordedCall], list[str]]:
    """What the file says. One that can't be read gets another name, because this run may have few of its calls."""
    try:
        return read_calls(file), []
    except ModelDiagramsError as error:
        kept = file.replace(file.with_name(f"{file.name}.unreadable"))
        return {}, [f"{error}. It is {kept.name} now, and {file.name} has the calls of this run only"]


def merge(
    kept: Mapping[str, RecordedCall], found: Mapping[str, RecordedCall], ran: set[str]
) -> dict[str, RecordedCall]:
    """What the file says after a run.

    Args:
        kept: What it said before.
        found: The calls of this run.
        ran: Tests or examples that ran, or whose files are gone: nothing that was seen there is kept.
    """
    kept = {name: call for name, call in kept.items() if call.seen not in ran}
    better = {name: call for name, call in found.items() if name not in kept or call.rank < kept[name].rank}
    return {**kept, **better}


def _summary(
    settings: RunSettings, file: Path, before: Mapping[str, RecordedCall], after: Mapping[str, RecordedCall]
) -> str:
    changed = sum(name in before and before[name] != call for name, call in after.items())
    counts = {"new": len(after.keys() - before), "changed": changed, "removed": len(before.keys() - after)}
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "nothing changed"
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    text = f"{shown}: {len(after)} model call{'s'[: len(after) != 1]} ({told})"
    if after or settings.only or settings.all_classes:
        return text
    return f"{text}; no class that was called is named in {shown.parent}: `--all` or `--only PATTERN` records others"
