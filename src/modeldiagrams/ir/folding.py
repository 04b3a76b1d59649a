r"""Stores equal blocks of a graph only once, for the data of pages: 80 equal layers take little more space than two.

A section of the graph (nodes, adjacency, …) becomes a list of items: its entries, and uses of templates, ``[number of
the template, id of a module call, values]``. A template is a list of items with holes: ``\x01`` stands for the module
call's id, ``\x02`` and a number for one of the values in which the uses differ, and ``\x03`` for a value that is a
number, such as a measured time. Templates use other templates. `viewer/src/graph/unfold.ts` unfolds them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from modeldiagrams.common.files import digest, digest_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["digest_code", "fold_graph"]

_ID, _VALUE, _NUMBER = r"\u0001", r"\u0002", r"\u0003"
"""The signs of holes, as written in JSON."""

_OWN_ID = f'"{_ID}'
_SECTIONS = ("nodes", "adjacency", "hierarchy", "tensors", "parameters", "functions")
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TOKEN = re.compile(rf'(?:{_STRING}:|(?<!"time_ns":)[^"]++)++|{_STRING}|(?<="time_ns":)\d+|[^"]+')
"""Keys and other text between values, a string, or a time."""

_END_OF_NAME = re.compile(r"[./:]")
_LEAST_SAVED = 32
"""Least number of bytes that a template must save."""


class _Item(NamedTuple):
    key: str
    """Id of the entry; for the use of a template, id of the module call."""
    json: str


class _Run(NamedTuple):
    """Consecutive items of one section that belong to one module call."""

    section: list[_Item]
    start: int
    stop: int
    module: str
    tokens: list[str]
    """In these, ids inside the module call are relative to its own id."""


def fold_graph(graph: bytes) -> bytes:
    """Fold a graph's JSON for the viewer; return it unchanged if no template saves anything."""
    if any(sign.encode() in graph for sign in (_ID, _VALUE, _NUMBER)):
        return graph
    document = msgspec.json.decode(graph)
    folding = _Folding(document)
    if not folding.templates:
        return graph
    raw = {name: msgspec.Raw(f"[{_join(items)}]".encode()) for name, items in folding.sections.items()}
    templates = [msgspec.Raw(f"[{template}]".encode()) for template in folding.templates]
    return msgspec.json.encode({**document, **raw, "templates": templates})


def digest_code(*others: Path) -> str:
    """Hash this module and other files."""
    return digest(*(digest_file(path).encode() for path in (Path(__file__), *others)))


class _Folding:
    def __init__(self, document: dict[str, Any]) -> None:
        self.templates: list[str] = []
        self.sections = {name: [*_list_items(document[name])] for name in _SECTIONS if name in document}
        self._modules = {node["id"] for node in document["nodes"] if node["kind"] == "module"}
        self._chains: dict[str, list[str]] = {}
        for depth in reversed(range(max((len(self._chain(name)) for name in self._modules), default=0))):
            self._fold(depth)

    def _chain(self, key: str) -> list[str]:
        """The module calls whose ids are a prefix of a key, the outermost first."""
        if key not in self._chains:
            names = [*(key[: end.start()] for end in _END_OF_NAME.finditer(key)), key]
            self._chains[key] = [name for name in names if name in self._modules]
        return self._chains[key]

    def _fold(self, depth: int) -> None:
        """Find templates among the blocks of one depth, and use them."""
        alike: dict[tuple[str, ...], list[_Run]] = defaultdict(list)
        for section in self.sections.values():
            for run in self._find_runs(section, depth):
                alike[_find_structure(run.tokens)].append(run)
        uses = [use for runs in alike.values() if len(runs) > 1 for use in self._use_template(runs)]
        for run, use in sorted(uses, key=lambda found: -found[0].start):
            run.section[run.start : run.stop] = [use]

    def _find_runs(self, section: list[_Item], depth: int) -> Iterator[_Run]:
        def owner(position: int) -> str | None:
            chain = self._chain(section[position].key)
            return chain[depth] if len(chain) > depth else None

        for module, positions in groupby(range(len(section)), owner):
            if module is not None:
                start, *_, last = [*positions] * 2
                tokens = _tokenize(_join(section[start : last + 1]), module)
                yield _Run(section, start, last + 1, module, tokens)

    def _use_template(self, runs: list[_Run]) -> list[tuple[_Run, _Item]]:
        """The uses of a new template for these runs; none if it saves too little."""
        columns = [*zip(*(run.tokens for run in runs), strict=True)]
        slots = {column: number for number, column in enumerate(dict.fromkeys(c for c in columns if len({*c}) > 1))}
        template = "".join(_make_hole(c[0], slots[c]) if c in slots else c[0] for c in columns)
        number = str(len(self.templates))
        values = zip(*slots, strict=True) if slots else ([] for _ in runs)
        uses = [
            _Item(run.module, f"[{','.join([number, msgspec.json.encode(run.module).decode(), *map(_encode, own)])}]")
            for run, own in zip(runs, values, strict=True)
        ]
        saved = sum(len("".join(run.tokens)) - len(use.json) for run, use in zip(runs, uses, strict=True))
        if saved < len(template) + _LEAST_SAVED:
            return []
        self.templates.append(template)
        return [*zip(runs, uses, strict=True)]


def _list_items(section: list[Any] | dict[str, Any]) -> Iterator[_Item]:
    if isinstance(section, list):
        entries: Iterable[tuple[str, Any]] = ((entry["id"], entry) for entry in section)
    else:
        entries = ((key, [key, value]) for key, value in section.items())
    for key, entry in entries:
        yield _Item(key, msgspec.json.encode(entry).decode())


def _join(items: list[_Item]) -> str:
    return ",".join(item.json for item in items)


def _tokenize(text: str, module: str) -> list[str]:
    """Split a text into tokens, and replace the id of a module call at their start by a sign."""
    start = msgspec.json.encode(module).decode()[:-1]
    inside = tuple(start + end for end in './:"')
    # not in keys: an argument may have the name of the module call
    return [
        f"{_OWN_ID}{token[len(start) :]}" if token[-1] == '"' and token.startswith(inside) else token
        for token in _TOKEN.findall(text)
    ]


def _find_structure(tokens: list[str]) -> tuple[str, ...]:
    """Find the tokens that don't differ among the uses of a template: all but values, of which only ids are in it."""
    return tuple(
        [token for token in tokens if not token.isdecimal() and (token[-1] != '"' or token.startswith(_OWN_ID))]
    )


def _make_hole(token: str, slot: int) -> str:
    return f'"{_NUMBER if token.isdecimal() else _VALUE}{slot}"'


def _encode(token: str) -> str:
    """Write a value of a use; a number becomes text, so that an outer template can have it as a value."""
    return f'"{token}"' if token.isdecimal() else token
