"""Cues in the model's own code: ``# diagram: note …``, ``# diagram: group …`` and ``# diagram: hide``.

A comment is about the layers that its line names as attributes of ``self``, where they are made or called; on a line
without any, about the ops and functions that are called there. Alone on a line, it is about the next one. In a
method, it is about the modules of all classes that have this method, inherited or their own.
"""

from __future__ import annotations

import ast
import difflib
import io
import re
import tokenize
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from modeldiagrams.errors import CommentError
from modeldiagrams.ir.graph import ModuleNode, OpNode
from modeldiagrams.ir.lineage import Code, read_source, runs_method
from modeldiagrams.ir.queries import short_name
from modeldiagrams.ir.source_files import source_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.lineage import Class, Method
    from modeldiagrams.ir.nodes import ModelInfo

__all__ = ["said_in_code", "with_cues"]

_MARK = re.compile(r"#\s*diagram:")
_COMMENT = re.compile(r"#\s*diagram:\s*(?P<what>[^\s:]*):?\s*(?P<text>.*?)\s*")
_WORDS = ("note", "group", "hide")


class _Cue(NamedTuple):
    at: int
    """The line of the comment."""
    line: int
    """The line that it is about."""
    what: str
    text: str


class _Caller(NamedTuple):
    """A module that calls others, or the model."""

    module: ModuleNode | ModelInfo
    calls: dict[str, list[tuple[int, str]]]
    """Path from here → numbers and ids of the nodes."""
    below: dict[str, list[tuple[int, str]]]
    """The same of what others call inside of it."""


def said_in_code(graph: Graph, files: Iterable[str]) -> tuple[dict[str, Any], list[CommentError]]:
    """What comments say, as options of struct `Author` with ids as patterns.

    Args:
        graph: What the code made.
        files: Absolute paths of its source files; those that can't be read say nothing.

    Returns:
        The options, and what is wrong with comments in the code that ran.
    """
    hidden: dict[str, None] = {}
    groups: dict[str, dict[str, None]] = defaultdict(dict)
    notes: dict[str, str] = {}
    reader = _Reader(graph, [*files])
    for cue, ids in reader.said():
        if cue.what == "hide":
            hidden |= ids
        elif cue.what == "group":
            groups[cue.text] |= ids
        else:
            before = notes.get(",".join(ids))
            notes[",".join(ids)] = f"{before}\n\n{cue.text}" if before else cue.text
    said = {"hide": [*hidden], "group": {name: [*ids] for name, ids in groups.items()}, "notes": notes}
    return said, reader.problems


def with_cues(options: Mapping[str, Any], cues: Mapping[str, Any]) -> dict[str, Any]:
    """Options, and what comments say besides: the author of a page has the last word on a group's members.

    The notes become pairs of pattern and text, first those of the options: both may speak of the same nodes.
    """
    return {
        **options,
        "hide": [*(options.get("hide") or ()), *cues["hide"]],
        "group": {**cues["group"], **(options.get("group") or {})},
        "notes": [*(options.get("notes") or {}).items(), *cues["notes"].items()],
    }


class _Reader:
    """Reads the comments in the files of one graph."""

    def __init__(self, graph: Graph, files: Sequence[str]) -> None:
        self.problems: list[CommentError] = []
        self._graph = graph
        self._marked = [file for file in files if _MARK.search(_text(file))]
        self._code = Code(files)
        self._names = _names_by_file(graph, files) if self._marked else {}
        self._file_of = {name: file for file, names in self._names.items() for name in names}
        self._lineages: dict[str, tuple[Class, ...]] = {}
        self._known: dict[tuple[str, ast.ClassDef, Method | None], bool] = {}

    def said(self) -> Iterator[tuple[_Cue, dict[str, None]]]:
        """Comments with the ids of what they are about."""
        for file in self._marked:
            for cue in _cues(_text(file)):
                ids = {} if self._is_wrong(file, cue) else dict.fromkeys(self._meant(file, cue.line))
                if ids:
                    yield cue, ids

    # -- what is meant ------------------------------------------------------------------------------------------------

    def _meant(self, file: str, line: int) -> list[str]:
        """Ids of what a line of a file makes or calls."""
        return self._layers(file, line) or self._made(file, line)

    def _made(self, file: str, *lines: int) -> list[str]:
        """Ids of the ops and function calls of some lines."""
        names = sorted(self._names.get(file, ()))
        return [id_ for name in names for line in lines for id_ in self._ids_at.get(f"{name}:{line}", ())]

    @cached_property
    def _ids_at(self) -> dict[str | None, list[str]]:
        """Place in code → ids of what it makes; a function that is called there stands for the ops in it."""
        ids: dict[str | None, list[str]] = defaultdict(list)
        for node in self._graph.nodes:
            if isinstance(node, OpNode):
                ids[node.source].append(node.id)
        for call in self._graph.functions.values():
            ids[call.call_site].append(call.id)
        return ids

    def _layers(self, file: str, line: int) -> list[str]:
        """Ids of the calls of modules that a line names as attributes of ``self``."""
        chains = self._code.chains(file, line)
        class_, method = self._code.around(file, line)
        if not chains or class_ is None:
            return []
        callers = [caller for caller in self._callers if self._runs(caller.module, class_, method)]
        found = [call for caller in callers for chain in chains for call in _named(chain, caller)]
        return [*dict(sorted(found)).values()]  # in the graph's order

    @cached_property
    def _callers(self) -> list[_Caller]:
        modules = [(index, node) for index, node in enumerate(self._graph.nodes) if isinstance(node, ModuleNode)]
        callers = {node.id: _Caller(node, {}, {}) for _, node in modules}
        callers[""] = _Caller(self._graph.model, {}, {})
        for index, node in modules:
            parent = around = self._graph.parent(node)
            while True:
                caller = callers[around.id if around else ""]
                name = node.path.removeprefix(f"{around.path}." if around else "")
                calls = caller.calls if around is parent else caller.below
                calls.setdefault(name, []).append((index, node.id))
                if around is None:
                    break
                around = self._graph.parent(around)
        return [*callers.values()]

    def _runs(self, module: ModuleNode | ModelInfo, class_: ast.ClassDef, method: Method | None) -> bool:
        """Whether a module has this method of this class, inherited or its own."""
        key = (module.class_, class_, method)
        if key not in self._known:
            self._known[key] = runs_method(self._lineage(module), class_, method)
        return self._known[key]

    def _lineage(self, module: ModuleNode | ModelInfo) -> tuple[Class, ...]:
        """The classes of a module whose code is at hand."""
        name, _, _ = (module.source or "").rpartition(":")
        file = self._file_of.get(name)
        if module.class_ not in self._lineages:
            found = self._code.lineage(file, short_name(module.class_)) if file else ()
            self._lineages[module.class_] = found
        return self._lineages[module.class_]

    # -- what is wrong ------------------------------------------------------------------------------------------------

    def _is_wrong(self, file: str, cue: _Cue) -> bool:
        """Whether a comment says nothing; authors hear of it if the model has this code."""
        problem = _problem(cue)
        if problem is None and self._meant(file, cue.line):
            return False
        if self._has_run(file, cue.line):
            text = f"# diagram: {cue.what}".strip()
            problem = problem or self._unmatched(file, cue.line)
            self.problems.append(CommentError(f"{self._shown(file)}:{cue.at}", f"`{text}` {problem}"))
        return True

    def _unmatched(self, file: str, at: int) -> str:
        _, function = self._code.around(file, at)
        near = [(abs(line - at), line) for line in _lines(function) if self._meant(file, line)]
        hint = f"; the nearest line that does is {min(near)[1]}" if near else ""
        return f"matches nothing: line {at} names no layer of `self` and makes no op in this model{hint}"

    def _has_run(self, file: str, line: int) -> bool:
        """Whether code is the model's: of its classes or their bases, in a function that ran."""
        class_, function = self._code.around(file, line)
        if function is None or function.name not in {"__init__", "forward"}:
            return bool(self._made(file, *_lines(function)))
        return class_ is not None and any(self._runs(caller.module, class_, function) for caller in self._callers)

    def _shown(self, file: str) -> str:
        """A file's name as graphs tell names: relative to the folder that it is imported from."""
        if file in self._names:
            return min(self._names[file])
        path = Path(file).as_posix()
        roots = {Path(known).as_posix().removesuffix(name) for name, known in self._file_of.items()}
        return min((path.removeprefix(root) for root in roots if path.startswith(root)), default=Path(file).name)


def _named(chain: str, caller: _Caller) -> Iterator[tuple[int, str]]:
    """The calls that a path means by its longest part that means any: `fc` of ``fc.weight``."""
    parts = chain.split(".")
    while parts:
        for calls in (caller.calls, caller.below):
            names = _meaning(parts, calls)
            if names:
                yield from (call for name in names for call in calls[name])
                return
        if not parts.pop().isidentifier():
            return  # of a list, no other item is meant


def _meaning(parts: Sequence[str], names: Iterable[str]) -> set[str]:
    pattern = ""
    for part in parts:
        if part.startswith("-"):
            numbers = [int(item[1]) for name in names if (item := re.match(rf"{pattern}(\d+)\b", name))]
            part = str(max(numbers, default=0) + 1 + int(part))  # noqa: PLW2901
        pattern += r"[^.]+\." if part == "*" else rf"{re.escape(part)}\."
    items = r"(\d+\.)?" if parts[-1].isidentifier() else ""
    return {name for name in names if re.fullmatch(pattern + items, f"{name}.")}


def _lines(function: Method | None) -> range:
    return range(function.lineno, (function.end_lineno or 0) + 1) if function else range(0)


def _problem(cue: _Cue) -> str | None:
    if cue.what not in _WORDS:
        near = difflib.get_close_matches(cue.what, _WORDS, n=1)
        return f"is unknown; did you mean {near[0]!r}?" if near else f"is unknown; expected {', '.join(_WORDS)}"
    if not cue.text and cue.what != "hide":
        return f"says nothing; expected {'text' if cue.what == 'note' else 'the name of a group'} after it"
    return None


def _names_by_file(graph: Graph, files: Sequence[str]) -> dict[str, frozenset[str]]:
    """File → its names in the graph, which are relative to a folder that the graph does not tell."""
    sources = [getattr(node, "source", None) for node in graph.nodes] + [graph.model.source]
    sources += [call.call_site for call in graph.functions.values()]
    by_file: dict[str, set[str]] = defaultdict(set)
    for name in {source.rpartition(":")[0] for source in sources if source}:
        file = source_file(name, files)
        if file is not None:
            by_file[file].add(name)
    return {file: frozenset(by_file[file]) for file in files if file in by_file}


def _text(file: str) -> str:
    try:
        return read_source(file) if Path(file).suffix == ".py" else ""
    except (OSError, UnicodeError):
        return ""


def _cues(text: str) -> Iterator[_Cue]:
    lines = text.split("\n")  # as `tokenize` counts them: a form feed ends none
    try:
        ast.parse(text)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            found = _COMMENT.fullmatch(token.string) if token.type == tokenize.COMMENT else None
            if found:
                line = token.start[0]
                while line <= len(lines) and lines[line - 1].lstrip().startswith("#"):
                    line += 1
                yield _Cue(token.start[0], line, found["what"], found["text"])
    except (tokenize.TokenError, SyntaxError):
        return  # another version of the file than the one that ran
