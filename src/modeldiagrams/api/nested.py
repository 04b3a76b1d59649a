"""A graph with its modules open down to a depth, in the order in which nested text formats are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from modeldiagrams.errors import OptionError
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.ir.queries import short_name
from modeldiagrams.options.parsing import parse_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.ir.graph import Graph, Node

__all__ = ["Direction", "Levels", "Patterns", "label", "levels", "plain_ids", "printable", "shape", "walk"]

Direction = Literal["TB", "LR"]
Patterns: TypeAlias = Sequence[str] | str | None
"""Patterns of module paths or class names, also as one text with commas."""

_LONGEST = 80
"""Characters of an id, and of one line of a label."""


class Levels(TypedDict):
    """Which modules are open: the keyword arguments of `Graph.shown`."""

    depth: int
    expand: Sequence[str]
    collapse: Sequence[str]


def levels(depth: int | None, expand: Patterns, collapse: Patterns, direction: Direction = "TB") -> Levels:
    """Read options of a view, as in diagrams.

    Args:
        depth: How many levels of modules are open; by default 1, and 0 where `expand` says which.
        expand: Patterns of modules that are open as well.
        collapse: Patterns of modules that are closed.
        direction: Is checked, too.

    Raises:
        OptionError: for the first that is wrong.
    """
    if not isinstance(direction, str):
        raise OptionError("direction", f"expected TB or LR here, got {direction!r}")
    view = parse_view({"depth": depth, "expand": expand, "collapse": collapse, "direction": direction})
    usual = 0 if view.expand else 1
    return Levels(
        depth=usual if view.depth is None else view.depth, expand=view.expand or (), collapse=view.collapse or ()
    )


def walk(graph: Graph, opened: Levels) -> Iterator[tuple[Literal["open", "node", "close"], Node]]:
    """What to write: the beginning and the end of each open module, and all other nodes."""
    shown = graph.shown(**opened)
    todo: list[tuple[Literal["node", "close"], Node]] = [("node", node) for node in reversed(graph.children())]
    while todo:
        event, node = todo.pop()
        inside = graph.children(node)
        if event == "node" and inside and shown[inside[0].id] == inside[0].id:
            yield "open", node
            todo.append(("close", node))
            todo += [("node", child) for child in reversed(inside)]
        else:
            yield event, node


def plain_ids(graph: Graph, reserved: str) -> dict[str, str]:
    """Ids for other formats: readable, unique even where case doesn't count, of ASCII letters, digits and ``_`` only.

    Args:
        graph: The graph.
        reserved: A regular expression of words in lower case that can't be ids.

    Returns:
        Id of a node → an id such as ``encoder_layers_0_add_2``.
    """
    found: dict[str, str] = {}
    numbers: dict[str, int] = {}
    taken: set[str] = set()
    for node in graph.nodes:
        name = re.sub(r"[^A-Za-z0-9]+", "_", node.id).strip("_")[:_LONGEST] or node.kind
        if name[0].isdigit() or re.fullmatch(reserved, name.lower()):
            name = f"{node.kind}_{name}"
        plain = name
        while plain.lower() in taken:
            numbers[name] = numbers.get(name, 1) + 1
            plain = f"{name}_{numbers[name]}"
        taken.add(plain.lower())
        found[node.id] = plain
    return found


def label(node: Node) -> list[str]:
    """The lines that name a node: printable, not blank, and of limited length."""
    if isinstance(node, ModuleNode):
        last = node.path.rpartition(".")[2]
        lines = [last if node.call == 1 else f"{last} (call {node.call})", short_name(node.class_)]
    else:
        lines = [short_name(node.name) if node.kind == "op" else node.name or ""]
    return [line if line.strip() else node.kind for line in map(printable, lines)]


def shape(graph: Graph, tensor: str) -> str:
    """A tensor's shape as in diagrams, such as ``1×64``; empty if it is not known."""
    sizes = graph.tensors[tensor].shape
    return "" if sizes is None else printable("×".join(map(str, sizes)) or "scalar")


def printable(text: str) -> str:
    """One line of limited length; no format takes control characters, and no file lone surrogates."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"
