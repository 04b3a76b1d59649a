"""Decides from the source what expressions give, and whether they run tensors or modules."""

from __future__ import annotations

import ast
import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.ways import known_names
from modeldiagrams.tracer.ways.scope import MISSING, Kind, NameScope

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ITEMS: dict[Kind, Kind] = {"tensors": "tensor"}


def known_where(test: ast.AST, scope: NameScope, *, holds: bool) -> dict[str, Kind]:
    """The kinds that names have on one side of a condition because it asks what they are."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return known_where(test.operand, scope, holds=not holds)
    if isinstance(test, ast.BoolOp):
        parts = test.values if isinstance(test.op, ast.And) == holds else []
        return {name: kind for part in parts for name, kind in known_where(part, scope, holds=holds).items()}
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name):
        is_none = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
        asks = isinstance(test.ops[0], ast.Is if holds else ast.IsNot)
        return {test.left.id: "none"} if is_none and asks else {}
    if isinstance(test, ast.Call) and test.args and isinstance(asked := test.args[0], ast.Name):
        kind = _asked_kind(test, was_tensor=scope.kind_of(scope.value(asked)) == "tensor", holds=holds)
        return {} if kind is None else {asked.id: kind}
    return {}


def _asked_kind(test: ast.Call, *, was_tensor: bool, holds: bool) -> Kind | None:
    """The kind of an argument of `isinstance` or `torch.is_tensor` where that holds, or doesn't."""
    function = ast.unparse(test.func).rpartition(".")[2]
    if function not in {"is_tensor", "isinstance"}:
        return None
    asks_for_tensor = function == "is_tensor" or "Tensor" in ast.unparse(test.args[-1])
    if asks_for_tensor and holds:
        return "tensor"
    return "unknown" if was_tensor and asks_for_tensor != holds else None


class Runs(Exception):  # noqa: N818 - no error
    """Code runs tensors: nothing else needs to be known."""


class Expressions:
    """Knows what kind of value each name holds; calls are for a subclass."""

    def __init__(self, scope: NameScope, *, stops: bool) -> None:
        self.runs = False
        self.names: dict[str, Kind] = {}
        """Names that this code assigns."""
        self._scope = scope
        self._stops = stops

    def kind(self, node: ast.AST | None) -> Kind:
        """What an expression gives."""
        class_: Any = type(node)
        method = getattr(self, _method_name(class_), None)
        kind: Kind = method(node) if method is not None else "plain"  # texts and lambdas run nothing
        return kind

    def _run(self) -> Kind:
        if self._stops:
            raise Runs
        self.runs = True
        return "tensor"

    def _bind(self, target: ast.AST | None, kind: Kind, value: ast.AST | None) -> None:
        if isinstance(target, ast.Name):
            self._bind_name(target.id, kind, self._value(value))
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else ()
            for i, part in enumerate(target.elts):
                self._bind(part, self.kind(parts[i]) if parts else _ITEMS.get(kind, kind), None)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, "tensors" if kind == "tensor" else kind, None)
        elif isinstance(target, ast.Subscript) and self.kind(target.value) == "tensor":
            self._run()

    def _iterate(self, target: ast.AST, over: ast.expr) -> None:
        kind = self.kind(over)
        if kind == "tensor":
            self._run()
        first = ast.Subscript(over, ast.Slice())
        self._bind(target, _ITEMS.get(kind, kind), first)

    def _bind_name(self, name: str, kind: Kind, value: Any) -> None:
        if kind in {"tensor", "tensors"} or value is MISSING or value is None:
            self.names[name] = kind
        else:
            self.names.pop(name, None)
            self._scope = replace(self._scope, variables={**self._scope.variables, name: value})

    def _value(self, node: ast.AST | None) -> Any:
        """What an expression stands for, if its names are known."""
        return MISSING if node is None or self._root_is_local(node) else self._scope.value(node)

    def _name(self, node: ast.Name) -> Kind:
        if node.id in self.names:
            return self.names[node.id]
        kind = self._scope.kind_of(self._scope.value(node))
        if kind == "none" and node.id in self._scope.arguments:  # what it would be if it was given
            annotation = self._scope.annotations.get(node.id)
            return "tensor" if annotation is None or "Tensor" in annotation else "unknown"
        return kind

    def _attribute(self, node: ast.Attribute) -> Kind:
        base = self.kind(node.value)
        if base == "tensor":
            if node.attr in known_names.VIEWS:
                return self._run()
            return "tensor" if node.attr in {"data", "grad"} else "plain"
        if base in {"tensors", "unknown"} and self._root_is_local(node):
            return "unknown"
        return self._scope.kind_of(self._scope.value(node))

    def _root_is_local(self, node: ast.AST) -> bool:
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return not isinstance(node, ast.Name) or node.id in self.names

    def _combine(self, *kinds: Kind) -> Kind:
        """What arithmetic on these gives."""
        if "tensors" in kinds:
            return "tensors"  # tuples and lists are joined
        if "tensor" in kinds:
            return self._run()
        return "unknown" if "unknown" in kinds else "plain"

    def _binop(self, node: ast.BinOp) -> Kind:
        return self._combine(self.kind(node.left), self.kind(node.right))

    def _unaryop(self, node: ast.UnaryOp) -> Kind:
        return self._combine(self.kind(node.operand))

    def _compare(self, node: ast.Compare) -> Kind:
        kinds = [self.kind(item) for item in (node.left, *node.comparators)]
        if all(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops):
            return "plain"
        return "tensor" if self._combine(*kinds) == "tensor" else "plain"

    def _either(self, nodes: Sequence[ast.expr]) -> Kind:
        return _first_kind([self.kind(item) for item in nodes])

    def _subscript(self, node: ast.Subscript) -> Kind:
        base = self.kind(node.value)
        index = self.kind(node.slice)
        if base == "tensor" or (index == "tensor" and base in {"unknown", "none"}):
            return self._run()
        if base == "tensors":
            return "tensors" if isinstance(node.slice, ast.Slice) else "tensor"
        return base if base in {"module", "unknown"} else "unknown" if base == "none" else base

    def _display(self, nodes: Iterable[ast.expr | None]) -> Kind:
        kinds = {self.kind(item) for item in nodes}
        return "tensors" if kinds & {"tensor", "tensors"} else "module" if "module" in kinds else "plain"

    def _listcomp(self, node: Any) -> Kind:
        for part in node.generators:
            self._iterate(part.target, part.iter)
            for condition in part.ifs:
                self.kind(condition)
        return self._display([node.elt] if hasattr(node, "elt") else [node.key, node.value])

    def _namedexpr(self, node: ast.NamedExpr) -> Kind:
        kind = self.kind(node.value)
        self._bind(node.target, kind, node.value)
        return kind

    _setcomp = _dictcomp = _generatorexp = _listcomp

    def _boolop(self, node: ast.BoolOp) -> Kind:
        return self._either(node.values)

    def _ifexp(self, node: ast.IfExp) -> Kind:
        self.kind(node.test)
        before = self.names
        kinds: list[Kind] = []
        for part, holds in ((node.body, True), (node.orelse, False)):
            self.names = before | known_where(node.test, self._scope, holds=holds)
            kinds.append(self.kind(part))
        self.names = before
        return _first_kind(kinds)

    def _slice(self, node: ast.Slice) -> Kind:
        return self._either([part for part in (node.lower, node.upper, node.step) if part is not None])

    def _tuple(self, node: ast.Tuple | ast.List | ast.Set) -> Kind:
        return self._display(node.elts)

    _list = _set = _tuple

    def _dict(self, node: ast.Dict) -> Kind:
        return self._display(node.values)

    def _starred(self, node: ast.Starred | ast.Await | ast.Yield | ast.YieldFrom) -> Kind:
        return self.kind(node.value)

    _await = _yield = _yieldfrom = _starred

    def _constant(self, node: ast.Constant) -> Kind:
        return "none" if node.value is None else "plain"


@functools.cache
def _method_name(class_: type) -> str:
    return f"_{class_.__name__.lower()}"


def _first_kind(kinds: Sequence[Kind]) -> Kind:
    """The kind of a value that is one of several."""
    order: tuple[Kind, ...] = ("tensor", "tensors", "module", "unknown")
    return next((kind for kind in order if kind in kinds), kinds[0] if kinds else "plain")
