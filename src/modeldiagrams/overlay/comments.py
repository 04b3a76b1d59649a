"""Cues in the model's own code: ``# diagram: note …``, ``# diagram: group …`` and ``# diagram: hide``.

A comment is about the layers that its line names as attributes of ``self``, where they are made or called; on a line
without any, about the ops and functions that are called there. Alone on a line, it is about the next one.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from modeldiagrams.ir.graph import ModuleNode, OpNode
from modeldiagrams.ir.queries import short_name
from modeldiagrams.ir.source_files import source_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from modeldiagrams.ir.graph import Graph

__all__ = ["said_in_code", "with_cues"]

_MARK = re.compile(r"#\s*diagram:")
_COMMENT = re.compile(r"#\s*diagram:\s*(?P<what>note|group|hide)\b:?\s*(?P<text>.*?)\s*")


class _Cue(NamedTuple):
    line: int
    what: str
    text: str


def said_in_code(graph: Graph, files: Iterable[str]) -> dict[str, Any]:
    """What comments say, as options of struct `Author` with ids as patterns.

    Args:
        graph: What the code made.
        files: Absolute paths of its source files; those that can't be read say nothing.
    """
    hidden: dict[str, None] = {}
    groups: dict[str, dict[str, None]] = defaultdict(dict)
    notes: dict[str, str] = {}
    for file, names in _names_by_file(graph, [*files]).items():
        for cue in _cues(text) if _MARK.search(text := _text(file)) else ():
            ids = dict.fromkeys(_meant(graph, names, text, cue.line))
            if cue.what == "hide":
                hidden |= ids
            elif cue.what == "group":
                groups[cue.text] |= ids
            elif ids:
                before = notes.get(",".join(ids))
                notes[",".join(ids)] = f"{before}\n\n{cue.text}" if before else cue.text
    return {"hide": [*hidden], "group": {name: [*ids] for name, ids in groups.items() if ids}, "notes": notes}


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
            if found and (found["text"] or found["what"] == "hide"):
                line = token.start[0]
                while line <= len(lines) and lines[line - 1].lstrip().startswith("#"):
                    line += 1
                yield _Cue(line, found["what"], found["text"])
    except (tokenize.TokenError, SyntaxError):
        return  # another version of the file than the one that ran


def _meant(graph: Graph, names: frozenset[str], text: str, line: int) -> Iterator[str]:
    """Ids of what a line of a file makes or calls."""
    layers = [*_layers(graph, names, text, line)]
    if layers:
        yield from layers
        return
    for node in graph.nodes:
        if isinstance(node, OpNode) and _is_at(node.source, names, line):
            # a function that is called here stands for the ops in it
            yield node.id
    for call in graph.functions.values():
        if _is_at(call.call_site, names, line):
            yield call.id


def _is_at(source: str | None, names: frozenset[str], line: int | None = None) -> bool:
    name, _, number = (source or "").rpartition(":")
    return name in names and (line is None or number == str(line))


def _layers(graph: Graph, files: frozenset[str], text: str, line: int) -> Iterator[str]:
    """Ids of the calls of modules that a line names as attributes of ``self``."""
    for class_ in ast.walk(ast.parse(text)):
        if not isinstance(class_, ast.ClassDef) or not class_.lineno <= line <= (class_.end_lineno or 0):
            continue
        names = {
            node.attr
            for node in ast.walk(class_)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
            and node.lineno == line
        }
        for node in graph.nodes:
            if not isinstance(node, ModuleNode):
                continue
            parent = graph.parent(node)
            around = parent or graph.model
            is_of_class = short_name(around.class_) == short_name(class_.name) and _is_at(around.source, files)
            name = node.path.removeprefix(f"{parent.path}." if parent else "")
            # `layers` of `layers.0`, which an item of a list is called
            if is_of_class and (name in names or re.sub(r"\.\d+$", "", name) in names):
                yield node.id
