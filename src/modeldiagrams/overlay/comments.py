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
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from modeldiagrams.errors import CommentError
from modeldiagrams.ir.graph import ModuleNode, OpNode
from modeldiagrams.ir.queries import short_name
from modeldiagrams.ir.source_files import source_file
from modeldiagrams.overlay.lineage import Code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.nodes import ModelInfo
    from modeldiagrams.overlay.lineage import Class, Method

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
    """Options, and what comments say besides: the author of a page has the last word on a group's members."""
    notes = dict(options.get("notes") or {})
    for at, text in cues["notes"].items():
        notes[at] = f"{notes[at]}\n\n{text}" if at in notes else text
    return {
        **options,
        "hide": [*(options.get("hide") or ()), *cues["hide"]],
        "group": {**cues["group"], **(options.get("group") or {})},
        "notes": notes,
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
        class_, method = self._around(file, line)
        layers = self._layers(line, class_, method) if class_ else ()
        return [*layers] or [*self._made(file, line)]

    def _made(self, file: str, *lines: int) -> Iterator[str]:
        """Ids of the ops and function calls of some lines."""
        names = self._names.get(file, frozenset())
        for node in self._graph.nodes:
            if isinstance(node, OpNode) and _is_at(node.source, names, lines):
                # a function that is called here stands for the ops in it
                yield node.id
        for call in self._graph.functions.values():
            if _is_at(call.call_site, names, lines):
                yield call.id

    def _layers(self, line: int, class_: ast.ClassDef, method: Method | None) -> Iterator[str]:
        """Ids of the calls of modules that a line names as attributes of ``self``."""
        names = {
            node.attr
            for node in ast.walk(class_)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
            and node.lineno == line
        }
        for node in self._graph.nodes if names else ():
            if not isinstance(node, ModuleNode):
                continue
            parent = self._graph.parent(node)
            name = node.path.removeprefix(f"{parent.path}." if parent else "")
            # `layers` of `layers.0`, which an item of a list is called
            is_named = name in names or re.sub(r"\.\d+$", "", name) in names
            if is_named and _has(self._lineage(parent or self._graph.model), class_, method):
                yield node.id

    def _lineage(self, module: ModuleNode | ModelInfo) -> tuple[Class, ...]:
        """The classes of a module whose code is at hand."""
        name, _, _ = (module.source or "").rpartition(":")
        file = self._file_of.get(name)
        if module.class_ not in self._lineages:
            found = self._code.lineage(file, short_name(module.class_)) if file else ()
            self._lineages[module.class_] = found
        return self._lineages[module.class_]

    def _around(self, file: str, line: int) -> tuple[ast.ClassDef | None, Method | None]:
        """The innermost class and function around a line."""
        around = [node for node in ast.walk(self._code.tree(file)) if _holds(node, line)]
        classes = [node for node in around if isinstance(node, ast.ClassDef)]
        functions = [node for node in around if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        return (classes[-1] if classes else None), (functions[-1] if functions else None)

    # -- what is wrong ------------------------------------------------------------------------------------------------

    def _is_wrong(self, file: str, cue: _Cue) -> bool:
        """Whether a comment says nothing; authors hear of it if the model has this code."""
        problem = _problem(cue) or self._unmatched(file, cue)
        if problem and self._has_run(file, cue.line):
            text = f"# diagram: {cue.what}".strip()
            self.problems.append(CommentError(f"{self._shown(file)}:{cue.at}", f"`{text}` {problem}"))
        return problem is not None

    def _unmatched(self, file: str, cue: _Cue) -> str | None:
        if self._meant(file, cue.line):
            return None
        _, function = self._around(file, cue.line)
        lines = range(function.lineno, (function.end_lineno or 0) + 1) if function else range(0)
        near = sorted((abs(line - cue.line), line) for line in lines if self._meant(file, line))
        hint = f"; the nearest line that does is {near[0][1]}" if near else ""
        return f"matches nothing: line {cue.line} names no layer of `self` and makes no op in this model{hint}"

    def _has_run(self, file: str, line: int) -> bool:
        """Whether code is the model's: of its classes or their bases, in a function that ran."""
        class_, function = self._around(file, line)
        if function is None or function.name not in {"__init__", "forward"}:
            lines = range(function.lineno, (function.end_lineno or 0) + 1) if function else ()
            return any(True for _ in self._made(file, *lines))
        modules = [node for node in self._graph.nodes if isinstance(node, ModuleNode)]
        lineages = [self._lineage(self._graph.model), *map(self._lineage, modules)]
        return class_ is not None and any(_has(lineage, class_, function) for lineage in lineages)

    def _shown(self, file: str) -> str:
        """A file's name as graphs tell names: relative to the folder that it is imported from."""
        if file in self._names:
            return min(self._names[file])
        path = Path(file).as_posix()
        roots = {Path(known).as_posix().removesuffix(name) for name, known in self._file_of.items()}
        return min((path.removeprefix(root) for root in roots if path.startswith(root)), default=Path(file).name)


def _has(lineage: Sequence[Class], class_: ast.ClassDef, method: Method | None) -> bool:
    """Whether a module whose classes these are, nearest first, runs a method of one of them."""
    for one in lineage:
        if one.node is class_:
            return True
        own = one.method(method.name) if method else None
        if own is not None and "super()" not in ast.unparse(own):
            return False
    return False


def _problem(cue: _Cue) -> str | None:
    if cue.what not in _WORDS:
        near = difflib.get_close_matches(cue.what, _WORDS, n=1)
        return f"is unknown; did you mean {near[0]!r}?" if near else f"is unknown; expected {', '.join(_WORDS)}"
    if not cue.text and cue.what != "hide":
        return f"says nothing; expected {'text' if cue.what == 'note' else 'the name of a group'} after it"
    return None


def _holds(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", 0) or 0)


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
    path = Path(file)
    try:
        return path.read_text("utf-8") if path.suffix == ".py" else ""
    except (OSError, UnicodeError):
        return ""


def _cues(text: str) -> Iterator[_Cue]:
    lines = text.splitlines()
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


def _is_at(source: str | None, names: frozenset[str], lines: Iterable[int]) -> bool:
    name, _, number = (source or "").rpartition(":")
    return name in names and number.isdecimal() and int(number) in lines
