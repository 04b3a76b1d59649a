"""Numbers that names in shapes stand for: attributes of the model, and arguments and defaults of its constructor."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.forward import parameters_of
from modeldiagrams.target.inference.constructor_sizes import constructor_numbers
from modeldiagrams.target.inference.lookups import attribute_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import nn

__all__ = ["NamedNumbers"]

_CONFIGURATIONS = ("config", "cfg", "hparams", "args", "opt", "opts", "conf", "params", "settings", "_config", "_cfg")
_MOST = 1 << 20
_LETTERS = 2
"""Names this short are only the same in the same case: ``H`` is a height, and `h` may be a number of heads."""


class NamedNumbers:
    """Of one model."""

    def __init__(self, model: nn.Module, legend: Mapping[str, str]) -> None:
        """Read them.

        Args:
            model: It has been made.
            legend: Symbols → names or numbers.
        """
        defaults = {p.name: p.default for p in parameters_of(type(model)).values()}
        parts = [attribute_of(model, name) for name in _CONFIGURATIONS]
        known = [part if isinstance(part, dict) else getattr(part, "__dict__", {}) for part in parts]
        self._legend = legend
        self._numbers: dict[str, int] = {}
        for owner in (defaults, *reversed(known), constructor_numbers(), vars(model)):
            self._numbers |= {str(k): v for k, v in owner.items() if type(v) is int and 0 < v < _MOST}
        self._lower = {name.lower(): value for name, value in self._numbers.items() if len(name) > _LETTERS}

    def of(self, expression: str) -> int:
        """The number of an expression; 0 where it isn't known."""
        try:
            value = self._value(ast.parse(expression, mode="eval").body)
        except (SyntaxError, ZeroDivisionError, ValueError, OverflowError):
            return 0
        return value if isinstance(value, int) and 0 < value < _MOST else 0

    def _value(self, node: ast.AST) -> int:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name):
                return self._named(name)
            case ast.BinOp(left=left, op=op, right=right):
                return _reckoned(op, self._value(left), self._value(right))
        raise ValueError

    def _named(self, name: str) -> int:
        said = self._legend.get(name, "")
        if said.isdigit():
            return int(said)
        number = self._exact(name) or (self._exact(said) if said else 0)
        if not number:
            raise ValueError
        return number

    def _exact(self, name: str) -> int:
        return self._numbers.get(name, 0) or self._lower.get(name.lower(), 0)


def _reckoned(op: Any, left: int, right: int) -> int:
    match op:
        case ast.Mult():
            return left * right
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Div() | ast.FloorDiv():
            return left // right
    raise ValueError
