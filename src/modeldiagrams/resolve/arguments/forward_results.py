"""What forwards return and what callers do with it, by reading both: one tensor, so many, or tensors by name."""

from __future__ import annotations

import ast
import functools
import inspect
from typing import TYPE_CHECKING, Any

from torch import Tensor

from modeldiagrams.resolve.code.source import nodes_of, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["gives_several", "is_unfinished", "returns_what_is_used", "uses_several"]

_ONE, _NAMES, _SEVERAL = "one", "names", "several"
_Kind = tuple[str, int]
"""One of these, and how many; 0 where that is not known."""
_OF_NAMES = ("items", "values", "keys")
_GIVE_SEVERAL = ("chunk", "split", "unbind", "topk", "sort")
"""Methods of tensors."""
_OF_TENSORS = ("F", "torch", "functional")
"""What functions are of that take a tensor."""
_GIVE_PAIRS = ("RNN", "GRU", "LSTM", "LSTMCell", "MultiheadAttention")
"""Layers of PyTorch that give a pair."""


def is_unfinished(class_: type) -> bool:
    """Whether the forward of a class is left to others: all that it does is to raise an error."""
    function = _function(getattr(class_, "forward", None))
    body = [each for each in function.body if not isinstance(each, ast.Expr)] if function else []
    return bool(body) and isinstance(body[0], ast.Raise)


def returns_what_is_used(class_: type, makers: tuple[Any, ...], name: str) -> bool:
    """Whether a class may be what a constructor wants for an argument, by what is done with what the module gives.

    Args:
        class_: The class.
        makers: Whose argument it is; the last one counts.
        name: Of the argument.
    """
    used, given = _used(makers[-1], name) if makers else set(), _given(class_)
    return len(used) != 1 or not given or any(_is_alike(kind, *used) for kind in given)


def uses_several(makers: tuple[Any, ...], name: str) -> bool:
    """Whether a constructor uses what an argument gives as more than one tensor."""
    used = _used(makers[-1], name) if makers else set()
    return bool(used) and all(kind != _ONE for kind, _ in used)


def gives_several(class_: type) -> bool:
    """Whether a forward returns more than one tensor, wherever it ends."""
    given = _given(class_)
    return bool(given) and all(kind != _ONE for kind, _ in given)


def _is_alike(given: _Kind, used: _Kind) -> bool:
    return given[0] == used[0] and (given[1] == used[1] or 0 in (given[1], used[1]))


# -- what a forward returns


@functools.cache
def _given(class_: type) -> set[_Kind]:
    """The kinds of what a forward returns in several places; none where one of them isn't known."""
    function = _function(getattr(class_, "forward", None))
    returned = [node.value for node in _own(function) if isinstance(node, ast.Return)] if function else []
    pairs = _pairs(class_)
    kinds = [_kind(node, function, pairs) for node in returned if node is not None and function]
    return set() if None in kinds else {kind for kind in kinds if kind}


def _pairs(class_: type) -> set[str]:
    """Attributes of a class with layers that give a pair: ``self.rnn = nn.GRU(…)``."""
    found = set()
    for node in nodes_of(class_):
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                value=ast.Call(func=ast.Attribute(attr=layer) | ast.Name(id=layer)),
            ) if layer in _GIVE_PAIRS:
                found.add(name)
    return found


def _kind(node: ast.expr, function: ast.FunctionDef | None, pairs: set[str]) -> _Kind | None:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)) if name in pairs:
            return _SEVERAL, 2
        case ast.Tuple(elts=items):
            return _SEVERAL, len(items)
        case ast.List() | ast.ListComp():
            return _SEVERAL, 0
        case ast.Dict() | ast.DictComp() | ast.Call(func=ast.Name(id="dict" | "OrderedDict")):
            return _NAMES, 0
        case ast.Name(id=name) if function is not None:
            kinds = {_kind(value, None, pairs) for value in _assigned(function, name)}
            return kinds.pop() if len(kinds) == 1 else None
    return (_ONE, 0) if _is_a_tensor(node) else None


def _is_a_tensor(node: ast.expr) -> bool:
    match node:
        case ast.BinOp() | ast.Call(func=ast.Subscript()):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="F" | "torch" | "self"))):
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _tensor_methods()
    return False


def _assigned(function: ast.FunctionDef, name: str) -> Iterator[ast.expr]:
    for node in _own(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                yield value


# -- what a caller uses


@functools.cache
def _used(maker: Any, name: str) -> set[_Kind]:
    """The kinds that methods of a class use what a module gives as that was an argument of its constructor."""
    tree = tree_of(maker)
    held = dict(_held(tree))
    mine = {attribute for attribute, argument in held.items() if argument == name} | {name}
    found: set[_Kind] = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            found |= _used_in(function, mine, {*held})
    return found


def _held(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Attributes and the arguments that they hold: ``self.net = net``, ``self.target = copy.deepcopy(net)``."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = [*zip(targets, values, strict=False)]
            case ast.Assign(targets=[target], value=value):
                pairs = [(target, value)]
            case _:
                continue
        for target, value in pairs:
            for each in [value, *(value.args[:1] if isinstance(value, ast.Call) else [])]:
                match target, each:
                    case ast.Attribute(value=ast.Name(id="self"), attr=attribute), ast.Name(id=name):
                        yield attribute, name


def _used_in(function: ast.FunctionDef, mine: set[str], held: set[str]) -> set[_Kind]:
    calls = [node for node in _own(function) if _is_call_of(node, mine)]
    names = {name for node in _own(function) for name in _named(node, calls)}
    if any(_asks_for_kind(node, names) for node in _own(function)):
        return set()
    return {kind for node in _own(function) for kind in _uses(node, calls, names, held)}


def _is_call_of(node: ast.AST, mine: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
            return name in mine
    return False


def _named(node: ast.AST, calls: list[ast.AST]) -> Iterator[str]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value in calls:
            yield name


def _asks_for_kind(node: ast.AST, names: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr" | "len"), args=[ast.Name(id=name), *_]):
            return name in names
    return False


def _uses(node: ast.AST, calls: list[ast.AST], names: set[str], held: set[str]) -> Iterator[_Kind]:
    def is_it(each: ast.AST) -> bool:
        return each in calls or (isinstance(each, ast.Name) and each.id in names)

    match node:
        case ast.Assign(targets=[ast.Tuple(elts=items)], value=value) if is_it(value):
            yield _SEVERAL, 0 if any(isinstance(item, ast.Starred) for item in items) else len(items)
        case ast.Subscript(value=value, slice=ast.Constant(value=str())) if is_it(value):
            yield _NAMES, 0
        case ast.Attribute(value=value, attr=name) if is_it(value):
            if name in _OF_NAMES or name in _tensor_methods():
                yield _NAMES if name in _OF_NAMES else _ONE, 0
        case ast.BinOp(left=left, right=right) if is_it(left) or is_it(right):
            yield _ONE, 0
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name), args=[first, *_]) if is_it(first):
            if owner in _OF_TENSORS or (owner == "self" and name not in held):
                yield _ONE, 0


@functools.cache
def _tensor_methods() -> set[str]:
    return {name for name in dir(Tensor) if not name.startswith("_")} - {*_OF_NAMES, *_GIVE_SEVERAL}


# -- code


def _own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """All that a function is written of, without functions inside."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            pending += ast.iter_child_nodes(node)


def _function(function: Any) -> ast.FunctionDef | None:
    body = tree_of(inspect.unwrap(function)).body if inspect.isfunction(function) else []
    first = body[0] if body else None
    return first if isinstance(first, ast.FunctionDef) else None
