"""Arguments that say how many rows a table of the model's own has, of which forward takes some by ids."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.code.source import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modeldiagrams.resolve.arguments.stand_in_numbers import Slot

__all__ = ["ROWS", "read_tables", "usual_cells"]

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


def usual_cells(makers: Iterable[Any], name: str) -> list[str]:
    """Paths of recurrent layers, where a class makes some of an argument: ``h = self.core(x, h)``, a state in and out.

    Args:
        makers: The class that has the argument, last of several.
        name: Of the argument.
    """
    nodes = [node for maker in [*makers][-1:] for node in nodes_of(maker)]
    held = {attribute for node in nodes for attribute in _holding(node, name)}
    called = held | {variable for node in nodes for variable in _going_through(node, held)}
    found = (cell for node in nodes if held for cell in _cell(node, called))
    return [f"torch.nn.{cell}" for cell in dict.fromkeys(found)]


def _holding(node: ast.AST, name: str) -> Iterator[str]:
    """Attributes that hold what an argument made: ``self.core = core_cls(…)``, ``self.cells.append(cell(…))``."""
    match node:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=attribute)], value=value):
            made = value
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=attribute), attr="append"), args=[value]):
            made = value
        case _:
            return
    calls = [each for each in ast.walk(made) if isinstance(each, ast.Call)]
    if any(isinstance(call.func, ast.Name) and call.func.id == name for call in calls):
        yield attribute


def _going_through(node: ast.AST, held: set[str]) -> Iterator[str]:
    """Names of loops over them: ``for i, cell in enumerate(self.cells)``."""
    if isinstance(node, ast.For | ast.comprehension):
        attributes = {each.attr for each in ast.walk(node.iter) if isinstance(each, ast.Attribute)}
        yield from _names(node.target) if attributes & held else ()


def _cell(node: ast.AST, called: set[str]) -> Iterator[str]:
    """What is called with a state after its input, and gives the next one."""
    match node:
        case ast.Assign(targets=[target], value=ast.Call(func=function, args=[_, state])) if (
            _callee(function) in called
        ):
            match target:
                case ast.Tuple(elts=[_, ast.Name(id=after)]) if isinstance(state, ast.Name) and state.id == after:
                    yield from ("GRU", "LSTM")
                case ast.Tuple(elts=[_, _]) if {*_names(target)} <= {*_names(state)}:
                    yield "LSTMCell"
                case ast.Name(id=after) if after in _names(state):
                    yield "GRUCell"


def _callee(function: ast.expr) -> str:
    match function:
        case ast.Subscript(value=owner):
            return _callee(owner)
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
    return ""


def _names(node: ast.expr) -> list[str]:
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
