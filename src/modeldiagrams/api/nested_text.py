"""Walks a graph whose modules are open down to a depth, in the order of nested text formats."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from modeldiagrams.errors import OptionError
from modeldiagrams.ir.case_texts import say_only
from modeldiagrams.ir.graph import FunctionCall, ModuleNode
from modeldiagrams.ir.named_shapes import named_shape
from modeldiagrams.ir.queries import short_name
from modeldiagrams.options.parsing import parse_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.ir.graph import Graph, Node

__all__ = [
    "Box",
    "Direction",
    "Levels",
    "Patterns",
    "build_label",
    "format_shape",
    "parse_levels",
    "to_plain_ids",
    "to_printable",
    "walk_boxes",
]

Direction = Literal["TB", "LR"]
Patterns: TypeAlias = Sequence[str] | str | None
"""Patterns of module paths or class names, or one text with commas."""

_LONGEST = 80
"""The maximum length of an id, and of a line of a label."""


class Levels(TypedDict):
    """Which modules are open: the keyword arguments of `Graph.shown`."""

    depth: int
    expand: Sequence[str]
    collapse: Sequence[str]
    functions: bool


def parse_levels(
    depth: int | None,
    expand: Patterns,
    collapse: Patterns,
    direction: Direction = "TB",
    *,
    functions: bool | None = None,
) -> Levels:
    """Parse options of a view, as in diagrams.

    Args:
        depth: How many levels of modules are open; by default 1, or 0 if `expand` is given.
        expand: Patterns of modules to open as well.
        collapse: Patterns of modules to close.
        direction: Only checked.
        functions: Whether function calls are boxes; None means yes.

    Raises:
        OptionError: for the first invalid option.
    """
    if not isinstance(direction, str):
        raise OptionError("direction", f"expected TB or LR here, got {direction!r}")
    options = {"depth": depth, "expand": expand, "collapse": collapse, "direction": direction, "functions": functions}
    view = parse_view(options)
    usual = 0 if view.expand else 1
    return Levels(
        depth=usual if view.depth is None else view.depth,
        expand=view.expand or (),
        collapse=view.collapse or (),
        functions=view.functions is not False,
    )


Box: TypeAlias = "Node | FunctionCall"
"""A node, or a function call that contains several."""


def walk_boxes(graph: Graph, opened: Levels) -> Iterator[tuple[Literal["open", "node", "close"], Box]]:
    """Yield the beginning and end of each open module or function, and all other visible nodes."""
    shown = graph.shown(**opened)
    contents = _contents(graph, functions=opened["functions"])
    todo: list[tuple[Literal["node", "close"], Box]] = [("node", box) for box in reversed(contents[None])]
    while todo:
        event, box = todo.pop()
        inside = contents.get(box.id, []) if event == "node" else []
        if inside and shown[_first_node(contents, inside[0]).id] != box.id:
            yield "open", box
            todo.append(("close", box))
            todo += [("node", child) for child in reversed(inside)]
        else:
            yield event, box


def _contents(graph: Graph, *, functions: bool) -> dict[str | None, list[Box]]:
    """Map each module call and function call, and None for the model, to its children in order."""
    found: dict[str | None, list[Box]] = defaultdict(list)
    begun: set[str] = set()
    for node in graph.nodes:
        parent = graph.hierarchy[node.id]
        for call in reversed(graph.functions_around(node) if functions else ()):
            if call.id not in begun:
                begun.add(call.id)
                found[parent].append(call)
            parent = call.id
        found[parent].append(node)
    return found


def _first_node(contents: dict[str | None, list[Box]], box: Box) -> Node:
    while isinstance(box, FunctionCall):
        box = contents[box.id][0]
    return box


def to_plain_ids(graph: Graph, reserved: str) -> dict[str, str]:
    """Make ids for other formats: readable, unique even if case is ignored, of ASCII letters, digits and ``_`` only.

    Args:
        graph: The graph.
        reserved: A regular expression of lower-case words that can't be ids.

    Returns:
        Ids such as ``encoder_layers_0_add_2`` by the ids of nodes and function calls.
    """
    found: dict[str, str] = {}
    numbers: dict[str, int] = {}
    taken: set[str] = set()
    for node in [*graph.nodes, *graph.functions.values()]:
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


def build_label(graph: Graph, node: Box) -> list[str]:
    """Return the lines of a box's label: printable, not blank, and of limited length."""
    if isinstance(node, ModuleNode):
        # `downs.0` and `ups.0`: a list of modules is no box
        around = next((f"{module.path}." for module in graph.ancestors(node.id)), "")
        name = node.path.removeprefix(around)
        lines = [name if node.call == 1 else f"{name} (call {node.call})", short_name(node.class_)]
    elif isinstance(node, FunctionCall):
        lines = [node.name, "function" if node.function else "record_function"]
    else:
        lines = [short_name(node.name) if node.kind == "op" else node.name or ""]
    if only := say_only(graph, node):
        lines.append(only)
    return [line if line.strip() else node.kind for line in map(to_printable, lines)]


def format_shape(graph: Graph, tensor: str) -> str:
    """Format a tensor's shape as in diagrams, such as ``B×64``; empty if it is unknown."""
    return to_printable(named_shape(graph, tensor))


def to_printable(text: str) -> str:
    """Turn text into one line of limited length without control characters and lone surrogates."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"
