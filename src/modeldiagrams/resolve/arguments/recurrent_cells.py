"""Classes of PyTorch's recurrent layers, for an argument whose layers a forward calls as such."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.code.source import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["usual_cells"]


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
