"""What expressions in a project's files mean, as options of a diagram, without running any of it."""

from __future__ import annotations

import ast
import operator
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.scope import Known, Scope
from modeldiagrams.target.inference.trees import Tree, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.target.inference.parsed_project import ParsedProject

__all__ = ["CALCULATED", "Expressions", "calculated"]

_ARITHMETIC: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
CALCULATED: dict[str, Callable[..., Any]] = {
    **{function.__name__: function for function in (len, int, float, bool, min, max, sum, abs, round, list)},
    "tuple": list,
}
_DEEPEST = 24
_MOST_STEPS = 20_000
"""Of all reading for one model."""
_LARGEST = 10**9
_LONGEST = 1000
_DRAWN = {"randn", "rand", "zeros", "ones", "empty"}


@dataclass
class Expressions:
    """Reads expressions, and notes where else values of them are written; calls and attributes are read elsewhere."""

    sources: ParsedProject
    home: str = ""
    """The file that is read, from the project's folder."""
    places: list[str] = field(default_factory=list)
    """Where values are written that are not written there."""
    steps: int = 0

    def read(self, node: ast.expr, scope: Scope, depth: int = 0) -> Any:
        """The value of an expression as a constructor argument.

        Raises:
            Unreadable: if only a run would tell.
        """
        self.steps += 1
        if depth > _DEEPEST or self.steps > _MOST_STEPS:
            raise Unreadable
        readers: dict[type[ast.expr], Callable[[Any, Scope, int], Any]] = {
            ast.Constant: self._constant,
            ast.List: self._items,
            ast.Tuple: self._items,
            ast.Dict: self._mapping,
            ast.UnaryOp: self._negative,
            ast.BinOp: self._computed,
            ast.Subscript: self._item,
            ast.Name: self._named,
            ast.Attribute: self._attribute,
            ast.Call: self.made,
        }
        if type(node) not in readers:
            raise Unreadable
        return readers[type(node)](node, scope, depth)

    def _constant(self, node: ast.Constant, _scope: Scope, _depth: int) -> Any:
        if not isinstance(node.value, str | int | float | None):
            raise Unreadable
        return node.value

    def _items(self, node: ast.List | ast.Tuple, scope: Scope, depth: int) -> list[Any]:
        return [self.read(item, scope, depth + 1) for item in node.elts]

    def _negative(self, node: ast.UnaryOp, scope: Scope, depth: int) -> Any:
        value = self.read(node.operand, scope, depth + 1)
        if isinstance(node.op, ast.Not) and isinstance(value, bool):
            return not value
        if not isinstance(node.op, ast.USub):
            raise Unreadable
        return -_number(value)

    def made(self, node: ast.Call, scope: Scope, depth: int) -> Any:
        """What a call returns."""
        raise NotImplementedError

    def found(self, node: ast.Attribute, scope: Scope, depth: int) -> Known | None:
        """An attribute of a module, of a class, or of a method's own object; None for any other."""
        raise NotImplementedError

    def _mapping(self, node: ast.Dict, scope: Scope, depth: int) -> Tree:
        tree = Tree({})
        for key, value in zip(node.keys, node.values, strict=True):
            item = self.read(value, scope, depth + 1)
            if key is not None:
                tree.values[_plain(self.read(key, scope, depth + 1))] = item
            elif isinstance(item, Tree) and item.is_mapping:
                tree.values |= item.values
                tree.places |= {name: item.place_of(name) for name in item.values}
            else:
                raise Unreadable
        return tree

    def _named(self, node: ast.Name, scope: Scope, depth: int) -> Any:
        return self.named(node, scope, depth)

    def named(self, node: ast.Name, scope: Scope, depth: int, *, with_removed: bool = False) -> Any:
        """The value of a name, without what its file changes or takes out of it later."""
        try:
            found = scope.find(node.id)
        except KeyError:
            return self._from_outside(node, scope, depth)
        if found is None:
            raise Unreadable
        value = found.value if isinstance(found, Known) else self.read(*found, depth + 1)
        holder = scope.holder(node.id)
        changed = scope.source.changes(holder, node.id)
        removed = set() if with_removed else scope.source.removals(holder, node.id)
        if not changed | removed or not isinstance(value, Tree | list):
            return value
        if not isinstance(value, Tree) or "*" in changed | removed:
            raise Unreadable
        left = {key: item for key, item in value.values.items() if key not in changed | removed}
        return Tree(left, value.place, value.places, value.maker, is_whole=value.is_whole and not changed)

    def _from_outside(self, node: ast.Name, scope: Scope, depth: int) -> Any:
        """A name that another file of the project assigns, or of a class."""
        module, _, name = scope.source.imported.get(node.id, "").rpartition(".")
        source = self.sources.of_module(module, scope.source.file) if module else None
        if source is not None and source.names(source.tree).get(name) is not None:
            return self.read_elsewhere(ast.Name(name, ast.Load()), Scope(source, source.tree), depth)
        return {"_object_": self.path(node, scope)}

    def read_elsewhere(self, node: ast.expr, scope: Scope, depth: int) -> Any:
        """The value of an expression in another file, whose place is noted."""
        value = self.read(node, scope, depth + 1)
        assigned = scope.source.names(scope.node).get(node.id) if isinstance(node, ast.Name) else node
        if not isinstance(value, Tree) or not value.place:
            self._note(self.sources.place(scope.source, assigned or node))
        return value

    def _note(self, place: str) -> None:
        if place and place not in self.places and place.rpartition(":")[0] != self.home:
            self.places.append(place)

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> Any:
        source, owner = scope.source, node.value
        name = owner.id if isinstance(owner, ast.Name) else "self"
        if name != "self" and node.attr in source.changes(scope.holder(name), name):
            raise Unreadable
        found = self.found(node, scope, depth)
        if found is not None:
            return found.value
        is_imported = isinstance(owner, ast.Name) and owner.id in source.imported
        try:
            if not is_imported:
                return self.value_of(self.read(owner, scope, depth + 1), node.attr)
        except Unreadable:
            default = source.options.get(node.attr)
            if default is not None and isinstance(owner, ast.Name) and owner.id != "self":
                return self.read(default, Scope(source, source.tree), depth + 1)
        return {"_object_": self.path(node, scope)}

    def value_of(self, owner: Any, key: Any) -> Any:
        """The value of an attribute or key, with the place where it is written."""
        if not isinstance(owner, Tree) or key not in owner.values:
            raise Unreadable
        self._note(owner.place_of(key))
        return owner.values[key]

    def _item(self, node: ast.Subscript, scope: Scope, depth: int) -> Any:
        owner = self.read(node.value, scope, depth + 1)
        try:
            wanted = self.read(node.slice, scope, depth + 1)
        except Unreadable:
            if not isinstance(owner, Tree) or not all(isinstance(item, Tree) for item in owner.values.values()):
                raise
            wanted = next(iter(owner.values), None)  # of a registry, whatever the key is: its first entry
        if isinstance(owner, list) and type(wanted) is int and -len(owner) <= wanted < len(owner):
            return owner[wanted]
        return self.value_of(owner, _plain(wanted))

    def _computed(self, node: ast.BinOp, scope: Scope, depth: int) -> Any:
        left, right = self.read(node.left, scope, depth + 1), self.read(node.right, scope, depth + 1)
        match left, node.op, right:
            case [*_], ast.Add(), [*_]:
                return [*left, *right][:_LONGEST]
            case [*_], ast.Mult(), int(count) if len(left) * count <= _LONGEST:
                return left * count
            case str(), ast.Add(), str() if len(left + right) <= _LONGEST:
                return left + right
        left, right = _number(left), _number(right)
        try:
            is_small = abs(left) <= _LONGEST and 0 <= right <= 32  # noqa: PLR2004
            power = left**right if isinstance(node.op, ast.Pow) and is_small else None
            value = _ARITHMETIC[type(node.op)](left, right) if power is None else power
        except (ArithmeticError, KeyError):
            raise Unreadable from None
        if isinstance(value, complex) or abs(value) > _LARGEST:  # a root of a negative number
            raise Unreadable
        return value

    def path(self, node: ast.expr, scope: Scope) -> str:
        """The dotted path of a class that is loaded already: importing others would run them."""
        match node:
            case ast.Name(id=name):
                path = self.sources.path_of(name, scope.source)
                if path in sys.modules or path.rpartition(".")[0] in sys.modules:
                    return path
            case ast.Attribute(value=owner, attr=name):
                return f"{self.path(owner, scope)}.{name}"
        raise Unreadable

    # -- inputs

    def entry(self, node: ast.expr, scope: Scope, depth: int = 0) -> Any:
        """The value of an expression as an input: an entry of the option `inputs`.

        Raises:
            Unreadable: if it is no tensor that PyTorch draws or fills.
        """
        match node:
            case ast.Name(id=name) if depth < _DEEPEST:
                try:
                    found = scope.find(name)
                except KeyError:
                    found = None
                if isinstance(found, tuple):
                    return self.entry(*found, depth + 1)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=name), args=args):
                sizes = [self.read(argument, scope, depth + 1) for argument in args]
                if name in _DRAWN and not any(keyword.arg == "dtype" for keyword in node.keywords):
                    return _shape(sizes)
                if name == "randint" and len(args) > 1:
                    low, high = (0, sizes[0]) if len(args) == 2 else sizes[:2]  # noqa: PLR2004
                    limits = {"low": _number(low)} if low else {}
                    return {"shape": _shape(sizes[-1:]), "dtype": "int64", **limits, "high": _number(high)}
        raise Unreadable


def calculated(name: str, args: list[Any]) -> Any:
    """What a function of Python makes of known values.

    Raises:
        Unreadable: if it fails.
    """
    plain = [[*item.values] if isinstance(item, Tree) else item for item in args]
    try:
        value = CALCULATED[name](*plain)
    except (ArithmeticError, TypeError, ValueError):
        raise Unreadable from None
    if isinstance(value, int | float) and abs(value) > _LARGEST:
        raise Unreadable
    return value


def _shape(sizes: list[Any]) -> list[int]:
    flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], list) else sizes
    if not flat or not all(type(size) is int and size > 0 for size in flat):
        raise Unreadable
    return [*flat]


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable
    return value


def _plain(key: Any) -> Any:
    if not isinstance(key, str | int | float | None):
        raise Unreadable
    return key
