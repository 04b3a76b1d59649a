"""Runs the command whose calls are recorded, and writes down what its processes saw.

The command's environment tells pytest to record, and a script is run by `__main__` of this package. Each process leaves
a part in a folder; the parts are joined in the end, so it makes no difference how many processes there were.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.common.files import digest, write_atomically
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.settings import CALLS
from modeldiagrams.record.calls import GRAPHS, documentation_in, merge, read_calls, write_calls
from modeldiagrams.record.documented import is_documented, is_of_project, matches
from modeldiagrams.record.parts import Part, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.record.calls import Calls
    from modeldiagrams.record.recorder import Recorder

__all__ = ["RunSettings", "begin", "end", "in_environment", "leave_part", "run_command", "settings_for"]

_VARIABLE = "MODELDIAGRAMS_RECORD"
"""The settings, for the processes of a run."""


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is recorded, and where it goes."""

    folder: str
    """Of the documentation, where the file of calls is."""
    parts: str
    """Where processes leave what they saw."""
    only: tuple[str, ...] = ()
    """Patterns of names of classes."""
    all_classes: bool = False
    """Whether classes are recorded, too, that the documentation doesn't name."""
    snapshot: bool = False
    """Whether calls that can't be written are traced."""

    @property
    def file(self) -> Path:
        """The file of calls."""
        return Path(self.folder, CALLS)


def in_environment(settings: RunSettings | None = None) -> RunSettings | None:
    """The settings of the run to which this process belongs; with an argument, one begins."""
    if settings:
        os.environ[_VARIABLE] = msgspec.json.encode(settings).decode()
    text = os.environ.get(_VARIABLE)
    return msgspec.json.decode(text, type=RunSettings) if text else None


def settings_for(folder: Path | None, *, only: Sequence[str], all_classes: bool, snapshot: bool) -> RunSettings:
    """The settings of a new run.

    Args:
        folder: Of the documentation; None looks for it below the current folder.
        only: Patterns of names of classes.
        all_classes: Whether classes are recorded, too, that the documentation doesn't name.
        snapshot: Whether calls that can't be written are traced.
    """
    found = folder or documentation_in(Path.cwd())
    return RunSettings(
        folder=str((found or Path.cwd()).absolute()),
        parts=tempfile.mkdtemp(prefix="modeldiagrams-record-"),
        only=tuple(only),
        all_classes=all_classes or found is None,
        snapshot=snapshot,
    )


def begin(settings: RunSettings) -> Recorder:
    """Record in this process from now on."""
    from modeldiagrams.record.recorder import Recorder  # noqa: PLC0415  (imports torch)

    folder = Path(settings.folder)
    by_pattern = matches(settings.only) if settings.only else None
    return Recorder(
        by_pattern or (is_of_project if settings.all_classes else is_documented(folder)), snapshot=settings.snapshot
    )


def leave_part(settings: RunSettings, recorder: Recorder, files: set[str]) -> None:
    """Write down what this process saw when it ran the tests or the script in some files."""
    content = msgspec.json.encode(recorder.part(files))
    write_atomically(Path(settings.parts, f"{digest(content)}.json"), content)


def run_command(command: Sequence[str], settings: RunSettings) -> int:
    """Run a command in which calls are recorded.

    Args:
        command: Its words.
        settings: What is recorded.

    Returns:
        Its exit status.

    Raises:
        ModelDiagramsError: if it can't be run, or runs no script.
    """
    in_environment(settings)
    more = "-p modeldiagrams --record-model-calls"
    os.environ["PYTEST_ADDOPTS"] = f"{os.environ.get('PYTEST_ADDOPTS', '')} {more}".strip()
    try:
        return subprocess.run(_with_recorder([*command]), check=False).returncode  # noqa: S603
    except OSError as error:
        raise ModelDiagramsError(f"{command[0]} can't be run: {error.strerror}") from error


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


def end(settings: RunSettings) -> list[str]:
    """Write the calls that were recorded.

    Returns:
        What to tell: a line on the file, and one for each class whose calls can't be written.
    """
    paths = sorted(Path(settings.parts).glob("*.json"))
    seen = joined(msgspec.json.decode(path.read_bytes(), type=Part) for path in paths)
    before = read_calls(settings.file)
    gone = {call.file for call in before.values() if not Path(call.file).exists()}
    found = {name: each.call for name, each in seen.written.items()}
    for name, each in seen.refused.items():
        if each.graph:
            graph = f"{GRAPHS}/{name}.json"
            write_atomically(settings.file.parent / graph, each.graph.encode())
            found[name] = msgspec.structs.replace(each.call, graph=graph)
    after = merge(before, found, frozenset({*seen.files, *gone}))
    if after or before:
        write_calls(settings.file, after)
    refused = [
        f"{name} can't be written as {each.call.seen} calls it: {each.problem}. {_WAY_OUT}"
        for name, each in sorted(seen.refused.items())
        if name not in after
    ]
    return [_summary(settings, before, after), *refused]


_WAY_OUT = (
    "Name a function that returns the inputs (option `inputs_from`) or one that makes the model (option `model`), or "
    "keep the graph of this very call: `modeldiagrams record --snapshot`"
)


def _summary(settings: RunSettings, before: Calls, after: Calls) -> str:
    new = len(after.keys() - before.keys())
    changed = sum(name in before and before[name] != call for name, call in after.items())
    counts = {"new": new, "changed": changed, "removed": len(before.keys() - after.keys())}
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "nothing changed"
    file = settings.file
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    text = f"{shown}: {len(after)} model call{'s'[: len(after) != 1]} ({told})"
    if after or settings.only or settings.all_classes:
        return text
    return f"{text}; no class that was called is named in {shown.parent}: `--all` or `--only PATTERN` records others"
