"""Reads literal values in one file of a project, as options of a diagram."""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["LiteralReader", "SourceFile", "UnreadableError", "called_name"]

Function = ast.FunctionDef | ast.AsyncFunctionDef
Enclosing = tuple[ast.AST, ...]
"""Functions and classes around a node, outermost first."""
Names = Mapping[str, ast.expr | None]
"""Name → the expression that it is assigned; None where only a run would tell."""
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
}
_CHANGING = {"update", "setdefault", "append", "extend", "insert", "pop"}
_TENSOR_FUNCTIONS = {"randn", "rand", "zeros", "ones", "empty"}
_MAX_DEPTH = 16
_MAX_NUMBER = 10**9
_MAX_ITEMS = 1000


class UnreadableError(Exception):
    """Only a run of the code would tell the value of an expression."""


@dataclass
class SourceFile:
    """Parsed code of a file, or a block of code in one."""

    file: Path
    module: str
    """Its dotted name."""
    tree: ast.Module
    line: int = 0
    """Lines of the file before it."""
    imports: dict[str, str] = field(default_factory=dict)
    """Name → dotted path."""
    classes: set[str] = field(default_factory=set)
    calls: list[tuple[ast.Call, Enclosing]] = field(default_factory=list)

    def __post_init__(self) -> None:
        pending: list[tuple[ast.AST, Enclosing]] = [(self.tree, ())]
        for node, enclosing in pending:
            match node:
                case ast.Import(names=names):
                    self.imports |= {alias.asname or alias.name: alias.name for alias in names}
                case ast.ImportFrom(names=names):
                    source = self._absolute_module(node)
                    self.imports |= {alias.asname or alias.name: f"{source}.{alias.name}" for alias in names}
                case ast.ClassDef(name=name):
                    self.classes.add(name)
                case ast.Call():
                    self.calls.append((node, enclosing))
            inner = (*enclosing, node) if isinstance(node, Function | ast.ClassDef) else enclosing
            pending.extend((child, inner) for child in ast.iter_child_nodes(node))

    def _absolute_module(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.module.split(".")
        parts = parts[: len(parts) - node.level + (self.file.stem == "__init__")]
        return ".".join([*parts, *([node.module] if node.module else [])])

    def path_of(self, node: ast.expr) -> str:
        """Dotted path of what an expression names; empty for what is neither imported nor a class of this file."""
        match node:
            case ast.Name(id=name) if name in self.imports:
                return self.imports[name]
            case ast.Name(id=name) if name in self.classes:
                return f"{self.module}.{name}"
            case ast.Attribute(value=owner, attr=name) if path := self.path_of(owner):
                return f"{path}.{name}"
        return ""

    def names_at(self, enclosing: Enclosing) -> Names:
        """What names mean inside of some functions, whose parameters have their defaults."""
        names = _assigned_names(self.tree)
        for scope in enclosing:
            if isinstance(scope, Function):
                defaults, assigned = _defaults(scope.args), _assigned_names(scope)
                names = {**names, **defaults, **assigned, **dict.fromkeys(defaults.keys() & assigned)}
        return names


def called_name(node: ast.Call) -> str:
    """Last part of the name of what is called."""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


@dataclass(frozen=True)
class LiteralReader:
    """Reads expressions at one place of a file."""

    source: SourceFile
    names: Names

    def read(self, node: ast.expr, depth: int = 0) -> Any:
        """Value of an expression as an option of a diagram.

        Raises:
            UnreadableError: if only a run would tell.
        """
        readers: dict[type[ast.expr], Callable[[Any, int], Any]] = {
            ast.Constant: self._read_constant,
            ast.List: self._read_items,
            ast.Tuple: self._read_items,
            ast.Dict: self._read_dict,
            ast.UnaryOp: self._read_negative,
            ast.BinOp: self._read_operation,
            ast.Subscript: self._read_item,
            ast.Name: self._read_name,
            ast.Attribute: self._read_attribute,
            ast.Call: self._read_call,
        }
        if depth > _MAX_DEPTH or type(node) not in readers:
            raise UnreadableError
        return readers[type(node)](node, depth + 1)

    def read_arguments(self, node: ast.Call, depth: int = 0) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments of a call.

        Raises:
            UnreadableError: if only a run would tell one of them.
        """
        args: list[Any] = []
        for argument in node.args:
            value = self.read(argument.value if isinstance(argument, ast.Starred) else argument, depth)
            if isinstance(argument, ast.Starred) and not isinstance(value, list):
                raise UnreadableError
            args += value if isinstance(argument, ast.Starred) else [value]
        keys = [ast.Constant(keyword.arg) if keyword.arg else None for keyword in node.keywords]
        return args, self._read_dict(ast.Dict([*keys], [keyword.value for keyword in node.keywords]), depth)

    def _read_constant(self, node: ast.Constant, _depth: int) -> Any:
        if not isinstance(node.value, str | int | float | None):
            raise UnreadableError
        return node.value

    def _read_items(self, node: ast.List | ast.Tuple, depth: int) -> list[Any]:
        return [self.read(item, depth) for item in node.elts]

    def _read_dict(self, node: ast.Dict, depth: int) -> dict[str, Any]:
        values: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            item, name = self.read(value, depth), None if key is None else self.read(key, depth)
            if not isinstance(item if key is None else name, dict if key is None else str | int | float):
                raise UnreadableError
            values |= item if key is None else {name: item}
        return values

    def _read_negative(self, node: ast.UnaryOp, depth: int) -> Any:
        if not isinstance(node.op, ast.USub):
            raise UnreadableError
        return -_as_number(self.read(node.operand, depth))

    def _read_operation(self, node: ast.BinOp, depth: int) -> Any:
        if type(node.op) not in _ARITHMETIC:
            raise UnreadableError
        return _calculate(_ARITHMETIC[type(node.op)], self.read(node.left, depth), self.read(node.right, depth))

    def _read_item(self, node: ast.Subscript, depth: int) -> Any:
        return _item(self.read(node.value, depth), self.read(node.slice, depth))

    def _read_name(self, node: ast.Name, depth: int) -> Any:
        if node.id not in self.names:
            return {"_object_": self._loaded_path(node)}
        assigned = self.names[node.id]
        if assigned is None:
            raise UnreadableError
        return self.read(assigned, depth)

    def _read_attribute(self, node: ast.Attribute, depth: int) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id in self.names:
            return _item(self.read(node.value, depth), node.attr)
        return {"_object_": self._loaded_path(node)}

    def _read_call(self, node: ast.Call, depth: int) -> Any:
        """``dict(width=3)``, a namespace, or an object of a loaded class; a function may do anything."""
        name = called_name(node)
        args, kwargs = self.read_arguments(node, depth)
        match name, args:
            case "dict", []:
                return kwargs
            case "list" | "tuple", [list() as items]:
                return items
            case "SimpleNamespace" | "Namespace", []:
                return {"_target_": "types.SimpleNamespace", **kwargs}
        if not name[:1].isupper():
            raise UnreadableError
        return {"_target_": self._loaded_path(node.func), **({"_args_": args} if args else {}), **kwargs}

    def _loaded_path(self, node: ast.expr) -> str:
        """Path of a class or function whose module is loaded: importing others would run them."""
        path = self.source.path_of(node)
        if path.rpartition(".")[0] not in sys.modules:
            raise UnreadableError
        return path

    def read_tensor(self, node: ast.expr) -> Any:
        """Entry of the option `inputs` for ``torch.randn(1, 3, 32, 32)`` and the like.

        Raises:
            UnreadableError: if it is no tensor that PyTorch draws or fills.
        """
        match node:
            case ast.Name(id=name) if (assigned := self.names.get(name)) is not None:
                return LiteralReader(self.source, {**self.names, name: None}).read_tensor(assigned)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=name), args=args, keywords=keywords):
                sizes = [self.read(argument) for argument in args]
                if name in _TENSOR_FUNCTIONS and not any(keyword.arg == "dtype" for keyword in keywords):
                    return _shape(sizes)
                if name == "randint" and len(args) > 1:
                    low, high = (0, sizes[0]) if len(args) == 2 else sizes[:2]  # noqa: PLR2004
                    limits = {"low": _as_number(low)} if low else {}
                    return {"shape": _shape(sizes[-1:]), "dtype": "int64", **limits, "high": _as_number(high)}
        raise UnreadableError


def _shape(sizes: list[Any]) -> list[int]:
    flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], list) else sizes
    if not flat or not all(type(size) is int and size > 0 for size in flat):
        raise UnreadableError
    return [*flat]


def _item(owner: Any, key: Any) -> Any:
    is_item = isinstance(owner, list) and type(key) is int and -len(owner) <= key < len(owner)
    if is_item or (isinstance(owner, dict) and not {"_object_", "_args_"} & owner.keys() and key in owner):
        return owner[key]
    raise UnreadableError


def _calculate(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if operation is operator.mul and isinstance(left, list) and type(right) is int and len(left) * right < _MAX_ITEMS:
        return left * right
    try:
        value = operation(_as_number(left), _as_number(right))
    except ArithmeticError:
        raise UnreadableError from None
    if abs(value) > _MAX_NUMBER:
        raise UnreadableError
    return value


def _as_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableError
    return value


def _defaults(arguments: ast.arguments) -> dict[str, ast.expr | None]:
    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults = [*missing, *arguments.defaults, *arguments.kw_defaults]
    names = [argument.arg for argument in (*positional, *arguments.kwonlyargs)]
    names += [argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument]
    return dict(zip(names, [*defaults, None, None], strict=False))


def _assigned_names(scope: ast.AST) -> dict[str, ast.expr | None]:
    """Names that a module or function assigns; None for names that are assigned twice or changed."""
    names: dict[str, ast.expr | None] = {}
    for node in _statement_nodes(scope):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                names[name] = None if name in names else value
            case ast.Name(id=name, ctx=ast.Store()):
                names.setdefault(name, None)  # in a loop, by unpacking
            case ast.AugAssign(target=ast.Name(id=name)):
                names[name] = None
            case (
                ast.Attribute(value=ast.Name(id=name), ctx=ast.Store())
                | ast.Subscript(value=ast.Name(id=name), ctx=ast.Store())
            ):
                names[name] = None
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _CHANGING:
                names[name] = None
    return names


def _statement_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a scope, without those of functions and classes inside; statements before their parts."""
    pending = [*ast.iter_child_nodes(scope)]
    for node in pending:
        yield node
        if not isinstance(node, Function | ast.ClassDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))
