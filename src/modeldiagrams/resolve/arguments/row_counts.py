"""Arguments that say how many rows a table of the model's own has, of which forward takes some by ids."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from modeldiagrams.resolve.code.source import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modeldiagrams.resolve.arguments.stand_in_numbers import Slot

__all__ = ["ROWS", "read_tables"]

_MAKE = ("empty", "randn", "rand", "zeros", "ones", "Tensor", "FloatTensor")
ROWS = "rows of a table"
"""Among the attributes of layers that hold an argument: no layer has it."""


def read_tables(slots: Iterable[Slot]) -> None:
    """Note arguments that count ids: ``self.ent = nn.Parameter(torch.randn(n_ent, dim))`` with ``self.ent[ids]``."""
    for slot in slots:
        if slot.kind == "number" and slot.makers:
            nodes = nodes_of(slot.makers[-1])
            held = {attribute for node in nodes for attribute in _held(node, slot.name)}
            loops = {name for node in nodes for name in _counting(node)}
            if held and any(_is_looked_up(node, held, loops) for node in nodes):
                slot.attributes.add(ROWS)


def _held(node: ast.AST, name: str) -> Iterator[str]:
    """Attributes with parameters that have so many rows."""
    match node:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=attribute)], value=made):
            calls = [each for each in ast.walk(made) if isinstance(each, ast.Call)]
            if any(_name(call.func) == "Parameter" for call in calls) and any(_rows(call) == name for call in calls):
                yield attribute


def _rows(call: ast.Call) -> str:
    """By which name the first size of a new matrix goes."""
    sizes = call.args
    if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple | ast.List):
        sizes = sizes[0].elts
    first = sizes[0] if len(sizes) > 1 and _name(call.func) in _MAKE else None
    return first.id if isinstance(first, ast.Name) else ""


def _is_looked_up(node: ast.AST, held: set[str], loops: set[str]) -> bool:
    """Whether rows are taken by numbers that an input has: by no constant, slice or count of a loop."""
    match node:
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id="self"), attr=attribute), slice=key):
            is_number = isinstance(key, ast.Constant | ast.Slice | ast.Tuple | ast.UnaryOp)
            return attribute in held and not is_number and not (isinstance(key, ast.Name) and key.id in loops)
        case ast.Call(func=function, args=args) if _name(function) in ("embedding", "index_select"):
            tables = [*args, function.value] if isinstance(function, ast.Attribute) else args
            return any(isinstance(each, ast.Attribute) and each.attr in held for each in tables)
    return False


def _counting(node: ast.AST) -> Iterator[str]:
    """Names of what loops count with."""
    if isinstance(node, ast.For | ast.comprehension):
        yield from (each.id for each in ast.walk(node.target) if isinstance(each, ast.Name))


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
