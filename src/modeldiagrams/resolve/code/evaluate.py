"""Evaluates expressions of a model's author by reading and plain arithmetic; none of the author's code runs."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Evaluator", "Names", "UnknownValueError", "evaluate", "get_attribute"]

Names = Mapping[str, Any]
"""Name → value, as in a frame."""

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_LARGEST = 100_000
"""Larger numbers are no sizes."""
_PARTS = ("_modules", "_parameters", "_buffers")
"""Where a module keeps what it is made of."""


class UnknownValueError(Exception):
    """Only running code would tell the value of an expression."""


def evaluate(node: ast.expr, names: Names) -> Any:
    """Value of an expression; None if code would have to run."""
    try:
        return Evaluator(names).read(node)
    except (UnknownValueError, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        return None


class Evaluator:
    """Evaluates expressions whose names have known values."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def read(self, node: ast.expr) -> Any:
        """Value of an expression; lists become tuples.

        Raises:
            UnknownValueError: if code would have to run.
            ArithmeticError: and other errors of Python, if its parts don't fit each other.
        """
        if isinstance(node, ast.Constant):
            return node.value
        found = self._found(node)
        if found is None:
            raise UnknownValueError
        return found

    def _found(self, node: ast.expr) -> Any:
        found: Any = None
        match node:
            case ast.Name(id=name):
                found = self.read_name(name)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                found = tuple(self.read(item) for item in items)
            case ast.Dict(keys=keys, values=values):
                found = self._dict(keys, values)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                found = _combined(operator.sub, 0, self.read(inner))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                found = _combined(_ARITHMETIC[type(op)], self.read(left), self.read(right))
            case ast.Attribute(value=inner, attr=name):
                found = _attribute(self.read(inner), name)
            case ast.Subscript(value=inner, slice=index):
                found = self._item(self.read(inner), index)
            case ast.Call():
                found = self.read_call(node)
        return found

    def read_name(self, name: str) -> Any:
        """Value of a name; None if it is unknown."""
        return self.names.get(name)

    def read_call(self, node: ast.Call) -> Any:
        """Result of a call that measures a value; None for other calls."""
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[inner]):
                return _length(self.read(inner))
            case ast.Call(func=ast.Attribute(value=inner, attr="size" | "dim" as name), args=args):
                owner = self.read(inner)
                return getattr(owner, name)(*map(self.read, args)) if isinstance(owner, Tensor) else None
        return None

    def _dict(self, keys: list[ast.expr | None], values: list[ast.expr]) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            found |= self.read(value) if key is None else {self.read(key): self.read(value)}
        return found

    def _item(self, owner: Any, index: ast.expr) -> Any:
        if isinstance(index, ast.Slice):
            ends = [self.read(end) if end else None for end in (index.lower, index.upper, index.step)]
            return tuple(owner[slice(*ends)]) if isinstance(owner, tuple | list) else None
        key = self.read(index)
        if isinstance(owner, dict):
            return dict.get(owner, key)
        kind = next((kind for kind in (tuple, list) if isinstance(owner, kind)), None)
        return kind.__getitem__(owner, key) if kind and type(key) is int else None  # a subclass may have its own code


def get_attribute(owner: Any, name: str) -> Any:
    """An attribute of an object, module, class or configuration, without running properties; None if missing."""
    if isinstance(owner, dict):
        return dict.get(owner, name)
    known = getattr(owner, "__dict__", {})
    inside = (known.get(kind) for kind in _PARTS) if type(known) is dict else ()
    parts = (known, *(part for part in inside if type(part) is dict), vars(type(owner)))
    return next((part[name] for part in parts if name in part), None)


def _attribute(owner: Any, name: str) -> Any:
    if isinstance(owner, Tensor):
        return getattr(owner, name) if name in ("shape", "ndim") else None
    return get_attribute(owner, name)


def _combined(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    is_known = _is_number(left) and _is_number(right) and max(abs(left), abs(right)) <= _LARGEST
    return operation(left, right) if is_known else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _length(value: Any) -> int | None:
    if isinstance(value, Tensor):
        return value.shape[0] if value.ndim else None
    return len(value) if isinstance(value, tuple | list | dict | nn.ModuleList | nn.ParameterList) else None
