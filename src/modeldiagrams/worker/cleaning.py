"""Cleans the answers of a model's process for publication: no paths of the machine, no secrets, limited length."""

from __future__ import annotations

import functools
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.ir.text import readable
from modeldiagrams.worker.protocol import ListedModels, ModelAnswer, Problem, Traced

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["clean_answer"]

_LONGEST_MESSAGE = 1000
_LONGEST_LINE = 160
"""The maximum length of a frame or a line of output."""

_SECRET = re.compile(r"(AUTH|COOKIE|CREDENTIAL|KEY|PASS|PASSWORD|PRIVATE|SECRET|TOKEN)S?(?=[\d_]|$)")
"""Matches names of environment variables with secrets."""
_PLAIN = re.compile(r"[A-Za-z]{,15}|[\d.,:eE+-]*")
"""A word or a number, of which graphs are full: ``MAX_TOKENS=4096`` and ``USE_AUTH=false`` are no secrets."""
_SHORTEST_SECRET = 4
_SHORTEST_VALUE = 8
"""The minimum length of values of other environment variables."""

_ABSOLUTE = re.compile(r"(?<![\w/.:~$…])/(?:[\w.@+-]+/)+(?=[\w.@+-])|(?<!\w)[A-Za-z]:\\(?:[\w.@+ -]+\\)*")
"""The folders of an absolute path."""


def clean_answer(answer: ModelAnswer, path: Iterable[str]) -> ModelAnswer:
    """Clean an answer for publication.

    Args:
        answer: The answer of a process that ran a model.
        path: Folders that modules were imported from; files are shown relative to them.
    """
    machine = _describe_machine(tuple(path), tuple(os.environ.items()))
    output = machine.without(readable(answer.output))
    if isinstance(answer, Traced):
        return msgspec.structs.replace(answer, output=output, graph=machine.without_in_graph(answer.graph))
    if isinstance(answer, ListedModels):
        problems = tuple(_cut(machine.without(readable(text)), _LONGEST_MESSAGE) for text in answer.problems)
        return msgspec.structs.replace(answer, output=output, problems=problems)
    return msgspec.structs.replace(answer, output=output, problem=_clean_problem(answer.problem, machine))


def _clean_problem(problem: Problem, machine: _Machine) -> Problem:
    return Problem(
        kind=problem.kind,
        message=_cut(machine.without(readable(problem.message)), _LONGEST_MESSAGE),
        frames=tuple(_cut(machine.without(readable(line)), _LONGEST_LINE) for line in problem.frames),
        printed=tuple(_cut(machine.without(readable(line)), _LONGEST_LINE) for line in problem.printed),
    )


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


class _Machine:
    """Knows the machine's folders and the values of its environment."""

    def __init__(self, path: Iterable[str], environment: Iterable[tuple[str, str]]) -> None:
        roots = dict.fromkeys((*path, sys.prefix, sys.base_prefix, str(Path.cwd()), tempfile.gettempdir()), "")
        roots[str(Path.home())] = "~"
        self._roots = {root.rstrip("/\\"): name for root, name in roots.items() if len(Path(root).parts) > 1}
        values = {value: f"${name}" for name, value in environment}
        self._secrets = {value: name for value, name in values.items() if _is_secret(name, value)}
        self._values = {value: name for value, name in values.items() if _is_revealing(value)}

    def without(self, text: str) -> str:
        """Remove absolute paths and values of the environment from a text."""
        text = _ABSOLUTE.sub("…/", self._relative(_replace(text, self._secrets, anywhere=True)))
        return _replace(text, self._values)

    def without_in_graph(self, graph: bytes) -> bytes:
        """Remove secrets and the machine's folders from a graph's JSON text."""
        if not any(_clean_json(found) in graph for found in (*self._roots, *self._secrets)):
            return graph
        text = graph.decode(errors="surrogateescape")  # a model may have changed what its process answers
        return self._relative(_replace(text, self._secrets, anywhere=True)).encode(errors="surrogateescape")

    def _relative(self, text: str) -> str:
        return _list_folders(tuple(self._roots)).sub(lambda found: self._name(found[1], found[2]), text)

    def _name(self, root: str, separator: str) -> str:
        name = self._roots[root.replace("\\\\", "\\")]
        return f"{name}{separator or ''}" if name else "" if separator else "."


@functools.lru_cache(maxsize=4)
def _describe_machine(path: tuple[str, ...], environment: tuple[tuple[str, str], ...]) -> _Machine:
    return _Machine(path, environment)


def _is_secret(name: str, value: str) -> bool:
    return bool(_SECRET.search(name.upper())) and len(value) >= _SHORTEST_SECRET and not _PLAIN.fullmatch(value)


def _is_revealing(value: str) -> bool:
    """Whether a value is more than a word or a dotted name, which a message may contain by chance."""
    return len(value) >= _SHORTEST_VALUE and not all(part.isidentifier() for part in value.split("."))


@functools.lru_cache(maxsize=4)
def _list_folders(roots: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w/.~-])({_match_any(roots)})(?:([/\\]+)|(?![\w.-]))")


def _replace(text: str, names: dict[str, str], *, anywhere: bool = False) -> str:
    """Replace values by names, only as whole words; with `anywhere`, long ones also inside words."""
    found = {value: name for value, name in names.items() if value in text or value.replace("\\", "\\\\") in text}
    if not found:
        return text
    inside = _match_any(value for value in found if anywhere and len(value) >= _SHORTEST_VALUE)
    pattern = rf"(?<!\w)(?:{_match_any(found)})(?!\w)" + (f"|{inside}" if inside else "")
    by_text = {value.replace("\\\\", "\\"): name for value, name in found.items()}
    return re.sub(pattern, lambda match: by_text[match[0].replace("\\\\", "\\")], text)


def _match_any(texts: Iterable[str]) -> str:
    """Build a pattern for any of some texts, also in JSON; the longest wins."""
    longest_first = sorted(texts, key=lambda text: (-len(text), text))
    return "|".join(re.escape(text).replace(r"\\", r"\\{1,2}") for text in longest_first)


def _clean_json(text: str) -> bytes:
    return msgspec.json.encode(text)[1:-1]
