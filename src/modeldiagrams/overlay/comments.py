"""Reads cues in the model's code: ``# diagram: note …``, ``# diagram: group …`` and ``# diagram: hide``.

A comment refers to the layers that its line names as attributes of ``self``, where they are made or called; if there
are none, to the ops and functions called on that line. A comment on its own line refers to the next line. In a method,
it refers to the modules of all classes that have this method, inherited or not.
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

__all__ = ["add_cues", "read_cues"]

_MARK = re.compile(r"#\s*diagram:")
_COMMENT = re.compile(r"#\s*diagram:\s*(?P<what>[^\s:]*):?\s*(?P<text>.*?)\s*")
_WORDS = ("note", "group", "hide")


class _Cue(NamedTuple):
    at: int
    """The line of the comment."""
    line: int
    """The line it refers to."""
    what: str
    text: str


class _Caller(NamedTuple):
    """A module that calls other modules, or the model."""

    module: ModuleNode | ModelInfo
    calls: dict[str, list[tuple[int, str]]]
    """Positions and ids of the called nodes, by path relative to the caller."""
    below: dict[str, list[tuple[int, str]]]
    """The same for calls by modules inside it."""


def read_cues(graph: Graph, files: Iterable[str]) -> tuple[dict[str, Any], list[CommentError]]:
    """Read all comments as options of the struct `Author`, with ids as patterns.

    Args:
        graph: The graph of the code.
        files: Absolute paths of its source files; unreadable files are ignored.

    Returns:
        The options, and the problems of comments in code that ran.
    """
    hidden: dict[str, None] = {}
    groups: dict[str, dict[str, None]] = defaultdict(dict)
    notes: dict[str, str] = {}
    reader = _CueReader(graph, [*files])
    for cue, ids in reader.read():
        if cue.what == "hide":
            hidden |= ids
        elif cue.what == "group":
            groups[cue.text] |= ids
        else:
            before = notes.get(",".join(ids))
            notes[",".join(ids)] = f"{before}\n\n{cue.text}" if before else cue.text
    options = {"hide": [*hidden], "group": {name: [*ids] for name, ids in groups.items()}, "notes": notes}
    return options, reader.problems


def add_cues(options: Mapping[str, Any], cues: Mapping[str, Any]) -> dict[str, Any]:
    """Add the cues of comments to the options of a page, which win if both define the same group.

    Notes become pairs of pattern and text, those of the options first, because both may refer to the same nodes.
    """
    return {
        **options,
        "hide": [*(options.get("hide") or ()), *cues["hide"]],
        "group": {**cues["group"], **(options.get("group") or {})},
        "notes": [*(options.get("notes") or {}).items(), *cues["notes"].items()],
    }


class _CueReader:
    """Reads the comments in the files of one graph."""

    def __init__(self, graph: Graph, files: Sequence[str]) -> None:
        self.problems: list[CommentError] = []
        self._graph = graph
        self._marked = [file for file in files if _MARK.search(_read_text(file))]
        self._code = Code(files)
        self._names = _group_names(graph, files) if self._marked else {}
        self._file_of = {name: file for file, names in self._names.items() for name in names}
        self._lineages: dict[str, tuple[Class, ...]] = {}
        self._known: dict[tuple[str, ast.ClassDef, Method | None], bool] = {}

    def read(self) -> Iterator[tuple[_Cue, dict[str, None]]]:
        """Yield comments with the ids of the nodes they refer to."""
        for file in self._marked:
            for cue in _parse_cues(_read_text(file)):
                ids = {} if self._is_wrong(file, cue) else dict.fromkeys(self._find_nodes(file, cue.line))
                if ids:
                    yield cue, ids

    def _find_nodes(self, file: str, line: int) -> list[str]:
        """Return the ids of the nodes that a line makes or calls."""
        return self._find_layers(file, line) or self._find_ops(file, line)

    def _find_ops(self, file: str, *lines: int) -> list[str]:
        """Return the ids of the ops and function calls on some lines."""
        names = sorted(self._names.get(file, ()))
        return [id_ for name in names for line in lines for id_ in self._ids_at.get(f"{name}:{line}", ())]

    @cached_property
    def _ids_at(self) -> dict[str | None, list[str]]:
        """Ids of ops and function calls by source line; a function call stands for the ops in it."""
        ids: dict[str | None, list[str]] = defaultdict(list)
        for node in self._graph.nodes:
            if isinstance(node, OpNode):
                ids[node.source].append(node.id)
        for call in self._graph.functions.values():
            ids[call.call_site].append(call.id)
        return ids

    def _find_layers(self, file: str, line: int) -> list[str]:
        """Return the ids of the calls of modules that a line names as attributes of ``self``."""
        chains = self._code.chains(file, line)
        class_, method = self._code.around(file, line)
        if not chains or class_ is None:
            return []
        callers = [caller for caller in self._callers if self._runs(caller.module, class_, method)]
        found = [call for caller in callers for chain in chains for call in _find_calls(chain, caller)]
        return [*dict(sorted(found)).values()]  # in graph order

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
        """Whether a module has this method of this class, inherited or not."""
        key = (module.class_, class_, method)
        if key not in self._known:
            self._known[key] = runs_method(self._lineage(module), class_, method)
        return self._known[key]

    def _lineage(self, module: ModuleNode | ModelInfo) -> tuple[Class, ...]:
        """Return the class of a module and its bases, as far as their code is available."""
        name, _, _ = (module.source or "").rpartition(":")
        file = self._file_of.get(name)
        if module.class_ not in self._lineages:
            found = self._code.lineage(file, short_name(module.class_)) if file else ()
            self._lineages[module.class_] = found
        return self._lineages[module.class_]

    def _is_wrong(self, file: str, cue: _Cue) -> bool:
        """Whether a comment is invalid or matches nothing; reports it if the model uses this code."""
        problem = _find_problem(cue)
        if problem is None and self._find_nodes(file, cue.line):
            return False
        if self._has_run(file, cue.line):
            text = f"# diagram: {cue.what}".strip()
            problem = problem or self._describe_unmatched(file, cue.line)
            self.problems.append(CommentError(f"{self._shorten(file)}:{cue.at}", f"`{text}` {problem}"))
        return True

    def _describe_unmatched(self, file: str, at: int) -> str:
        _, function = self._code.around(file, at)
        near = [(abs(line - at), line) for line in _list_lines(function) if self._find_nodes(file, line)]
        hint = f"; the nearest line that does is {min(near)[1]}" if near else ""
        return f"matches nothing: line {at} names no layer of `self` and makes no op in this model{hint}"

    def _has_run(self, file: str, line: int) -> bool:
        """Whether code belongs to the model: to its classes or their bases, in a function that ran."""
        class_, function = self._code.around(file, line)
        if function is None or function.name not in {"__init__", "forward"}:
            return bool(self._find_ops(file, *_list_lines(function)))
        return class_ is not None and any(self._runs(caller.module, class_, function) for caller in self._callers)

    def _shorten(self, file: str) -> str:
        """Return a file's name as in graphs: relative to the folder it is imported from."""
        if file in self._names:
            return min(self._names[file])
        path = Path(file).as_posix()
        roots = {Path(known).as_posix().removesuffix(name) for name, known in self._file_of.items()}
        return min((path.removeprefix(root) for root in roots if path.startswith(root)), default=Path(file).name)


def _find_calls(chain: str, caller: _Caller) -> Iterator[tuple[int, str]]:
    """Yield the calls that the longest matching prefix of a path names: `fc` in ``fc.weight``."""
    parts = chain.split(".")
    while parts:
        for calls in (caller.calls, caller.below):
            names = _match_names(parts, calls)
            if names:
                yield from (call for name in names for call in calls[name])
                return
        if not parts.pop().isidentifier():
            return  # an index names one item, not the whole list


def _match_names(parts: Sequence[str], names: Iterable[str]) -> set[str]:
    pattern = ""
    for part in parts:
        if part.startswith("-"):
            numbers = [int(item[1]) for name in names if (item := re.match(rf"{pattern}(\d+)\b", name))]
            part = str(max(numbers, default=0) + 1 + int(part))  # noqa: PLW2901
        pattern += r"[^.]+\." if part == "*" else rf"{re.escape(part)}\."
    items = r"(\d+\.)?" if parts[-1].isidentifier() else ""
    return {name for name in names if re.fullmatch(pattern + items, f"{name}.")}


def _list_lines(function: Method | None) -> range:
    return range(function.lineno, (function.end_lineno or 0) + 1) if function else range(0)


def _find_problem(cue: _Cue) -> str | None:
    if cue.what not in _WORDS:
        near = difflib.get_close_matches(cue.what, _WORDS, n=1)
        return f"is unknown; did you mean {near[0]!r}?" if near else f"is unknown; expected {', '.join(_WORDS)}"
    if not cue.text and cue.what != "hide":
        return f"says nothing; expected {'text' if cue.what == 'note' else 'the name of a group'} after it"
    return None


def _group_names(graph: Graph, files: Sequence[str]) -> dict[str, frozenset[str]]:
    """Map each file to its names in the graph, which are relative to folders the graph doesn't contain."""
    sources = [getattr(node, "source", None) for node in graph.nodes] + [graph.model.source]
    sources += [call.call_site for call in graph.functions.values()]
    by_file: dict[str, set[str]] = defaultdict(set)
    for name in {source.rpartition(":")[0] for source in sources if source}:
        file = source_file(name, files)
        if file is not None:
            by_file[file].add(name)
    return {file: frozenset(by_file[file]) for file in files if file in by_file}


def _read_text(file: str) -> str:
    try:
        return read_source(file) if Path(file).suffix == ".py" else ""
    except (OSError, UnicodeError):
        return ""


def _parse_cues(text: str) -> Iterator[_Cue]:
    lines = text.split("\n")  # as `tokenize` counts lines: a form feed doesn't end one
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
        return  # the file has changed since it ran
