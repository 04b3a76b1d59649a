"""What expressions in a file mean, as options of a diagram, without running any of it."""

from __future__ import annotations

import ast
import copy
import operator
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Unreadable", "Values"]

_ARITHMETIC: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
}
_DEEPEST = 12
_LARGEST = 10**9
_DRAWN = {"randn", "rand", "zeros", "ones", "empty"}


class Unreadable(Exception):  # noqa: N818  (no failure: there are other places to read)
    """An expression whose value only a run would tell."""


class Values:
    """Reads the expressions of one file."""

    def __init__(self, tree: ast.AST, module: str, *, is_own: bool) -> None:
        """Collect what names are assigned.

        Args:
            tree: Of the file. A name that is assigned several values has none.
            module: The one that defines the model. Classes of its package and of PyTorch have values, others would
                have to be imported.
            is_own: Whether the file is this module.
        """
        self._module = module
        self._packages = (module.partition(".")[0], "torch")
        self._names: dict[str, ast.expr | None] = {}
        self._imported: dict[str, str] = {}
        self._options: dict[str, ast.expr] = {}
        plain: set[ast.AST] = set()
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name) as target], value=value):
                    plain.add(target)
                    known = self._names.setdefault(name, value)
                    self._names[name] = known if known is not None and ast.dump(known) == ast.dump(value) else None
                case ast.Import(names=names):
                    self._imported |= {alias.asname or alias.name: alias.name for alias in names}
                case ast.ImportFrom(module=str(source), names=names, level=0):
                    self._imported |= {alias.asname or alias.name: f"{source}.{alias.name}" for alias in names}
                case ast.ClassDef(name=name) if is_own:
                    self._imported[name] = f"{module}.{name}"
                case ast.Call(func=ast.Attribute(attr="add_argument"), args=[*flags], keywords=keywords):
                    self._add_option(flags, keywords)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in plain:
                self._names[node.id] = None  # by a loop, `+=` and the like

    def without(self, names: Iterable[str]) -> Values:
        """The same where these names have other values."""
        inside = copy.copy(self)
        inside._names = {**self._names, **dict.fromkeys(names)}  # noqa: SLF001
        return inside

    def _add_option(self, flags: list[ast.expr], keywords: list[ast.keyword]) -> None:
        """``parser.add_argument("--hidden-size", default=64)`` gives ``args.hidden_size``."""
        default = next((keyword.value for keyword in keywords if keyword.arg == "default"), None)
        for flag in flags:
            if default is not None and isinstance(flag, ast.Constant) and isinstance(flag.value, str):
                self._options[flag.value.lstrip("-").replace("-", "_")] = default

    def is_elsewhere(self, node: ast.expr) -> bool:
        """Whether a name is imported from another package than the model's: ``nn.LSTM``, where the model is an LSTM."""
        while isinstance(node, ast.Attribute):
            node = node.value
        source = self._imported.get(node.id, "") if isinstance(node, ast.Name) else ""
        is_own = source.partition(".")[0] == self._packages[0] or self._module.rpartition(".")[2] in source.split(".")
        return bool(source) and not is_own

    def read(self, node: ast.expr, depth: int = 0) -> Any:
        """The value of an expression as a constructor argument.

        Raises:
            Unreadable: if only a run would tell.
        """
        if depth > _DEEPEST:
            raise Unreadable
        match node:
            case ast.Constant(value=str() | int() | float() | None as value):
                return value
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self.read(item, depth + 1) for item in items]
            case ast.Dict(keys=keys, values=values) if None not in keys:
                pairs = zip(keys, values, strict=True)
                return {self.read(k, depth + 1): self.read(v, depth + 1) for k, v in pairs if k is not None}
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._number(operand, depth)
        return self._computed(node, depth) if isinstance(node, ast.BinOp) else self._named(node, depth)

    def entry(self, node: ast.expr, depth: int = 0) -> Any:
        """The value of an expression as an input: an entry of the option `inputs`.

        Raises:
            Unreadable: if it is no tensor that PyTorch draws or fills.
        """
        match node:
            case ast.Name(id=name) if depth < _DEEPEST and self._names.get(name) is not None:
                return self.entry(self._names[name] or node, depth + 1)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=name), args=args):
                if name in _DRAWN and not any(keyword.arg == "dtype" for keyword in node.keywords):
                    return self._shape(args, depth)
                if name == "randint" and len(args) > 1:
                    low, high = (0, self._number(args[0], depth)) if len(args) == 2 else self._two(args, depth)  # noqa: PLR2004
                    limits = {"low": low} if low else {}
                    return {"shape": self._shape(args[-1:], depth), "dtype": "int64", **limits, "high": high}
        raise Unreadable

    def _two(self, args: list[ast.expr], depth: int) -> tuple[Any, Any]:
        return self._number(args[0], depth), self._number(args[1], depth)

    def _shape(self, args: list[ast.expr], depth: int) -> list[int]:
        sizes = [self.read(argument, depth + 1) for argument in args]
        flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], list) else sizes
        if not flat or not all(type(size) is int and size > 0 for size in flat):
            raise Unreadable
        return [*flat]

    def _number(self, node: ast.expr, depth: int) -> Any:
        value = self.read(node, depth + 1)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Unreadable
        return value

    def _computed(self, node: ast.BinOp, depth: int) -> Any:
        left, right = self._number(node.left, depth), self._number(node.right, depth)
        try:
            value = _ARITHMETIC[type(node.op)](left, right)
        except (ArithmeticError, KeyError):
            raise Unreadable from None
        if abs(value) > _LARGEST:
            raise Unreadable
        return value

    def _named(self, node: ast.expr, depth: int) -> Any:
        match node:
            case ast.Call():
                return self._made(node, depth)
            case ast.Name(id=name) if self._names.get(name) is not None:
                return self.read(self._names[name] or node, depth + 1)
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner not in self._imported:
                if name in self._options:
                    return self.read(self._options[name], depth + 1)
        return {"_object_": self._path(node)}

    def _path(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name) if self._imported.get(name, "").partition(".")[0] in self._packages:
                path = self._imported[name]
                if path in sys.modules or path.rpartition(".")[0] in sys.modules:  # importing others would run them
                    return path
            case ast.Attribute(value=owner, attr=name):
                return f"{self._path(owner)}.{name}"
        raise Unreadable

    def _made(self, node: ast.Call, depth: int) -> Any:
        args = [self.read(argument, depth + 1) for argument in node.args]
        kwargs = {keyword.arg: self.read(keyword.value, depth + 1) for keyword in node.keywords if keyword.arg}
        if len(kwargs) < len(node.keywords):
            raise Unreadable
        path = self._path(node.func)
        if not path.rpartition(".")[2][:1].isupper():  # a function may do anything; a class makes an object
            raise Unreadable
        return {"_target_": path, **({"_args_": args} if args else {}), **kwargs}
