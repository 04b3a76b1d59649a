"""Decides from the source whether code runs tensors or modules."""

from __future__ import annotations

import ast
import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.ways import names
from modeldiagrams.tracer.ways.scope import MISSING, Kind, Scope, plain_function

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from modeldiagrams.tracer.ways.syntax import Sources

_DEEPEST = 3
"""Calls of the model's functions to look into."""
_ITEMS: dict[Kind, Kind] = {"tensors": "tensor"}


def runs_tensors(nodes: Sequence[ast.AST], known: Mapping[str, Kind], scope: Scope, sources: Sources) -> bool:
    """Whether statements, or an expression, run tensors or modules; `known` are kinds that names have there."""
    for deepest in (0, _DEEPEST):  # most need no look into the functions that they call, which takes long
        judge = _Judge(scope, sources, deepest, stops=True)
        judge.names.update(known)
        try:
            judge.visit_all(nodes)
        except _Runs:
            return True
        if not judge.left_unread:
            break
    return False


def kind_of(node: ast.expr, scope: Scope, sources: Sources) -> tuple[Kind, bool]:
    """What an expression gives, and whether it runs tensors or modules."""
    judge = _Judge(scope, sources, _DEEPEST)
    return judge.kind(node), judge.runs


def known_where(test: ast.AST, scope: Scope, *, holds: bool) -> dict[str, Kind]:
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


class _Runs(Exception):  # noqa: N818 - no error
    """Code runs tensors: nothing else needs to be known."""


class _Judge:
    """Goes through code in its order; knows what kind of value each name holds."""

    def __init__(self, scope: Scope, sources: Sources, deepest: int, *, stops: bool = False) -> None:
        self.runs = False
        self.names: dict[str, Kind] = {}
        """Names that this code assigns."""
        self.returned: list[Kind] = []
        self.left_unread = False
        """Whether a function was called that a deeper look would read."""
        self._scope = scope
        self._sources = sources
        self._deepest = deepest
        self._stops = stops

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self._visit(node)

    def kind(self, node: ast.AST | None) -> Kind:
        """What an expression gives."""
        class_: Any = type(node)
        method = getattr(self, _method_name(class_), None)
        kind: Kind = method(node) if method is not None else "plain"  # texts and lambdas run nothing
        return kind

    def _visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.expr):
            self.kind(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.withitem):
            self._assign(node)
        elif isinstance(node, ast.For | ast.AsyncFor):
            self._iterate(node.target, node.iter)
            self.visit_all([*node.body, *node.orelse])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self.names[node.name] = "unknown"
        elif isinstance(node, ast.Return):
            self.returned.append(self.kind(node.value))
        elif not isinstance(node, ast.Raise | ast.Assert | ast.ClassDef | ast.pattern):
            self.visit_all(ast.iter_child_nodes(node))

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.withitem) -> None:
        if isinstance(node, ast.AugAssign):
            self._bind(node.target, self._combine(self.kind(node.target), self.kind(node.value)), None)
        elif isinstance(node, ast.withitem):
            self._bind(node.optional_vars, self.kind(node.context_expr), None)
        else:
            kind = self.kind(node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._bind(target, kind, node.value)

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
            if node.attr in names.VIEWS:
                return self._run()
            return "tensor" if node.attr in {"data", "grad"} else "plain"
        if base in {"tensors", "unknown"} and self._root_is_local(node):
            return "unknown"
        return self._scope.kind_of(self._scope.value(node))

    def _root_is_local(self, node: ast.AST) -> bool:
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return not isinstance(node, ast.Name) or node.id in self.names

    def _call(self, node: ast.Call) -> Kind:
        function = node.func
        is_logging = isinstance(function, ast.Attribute) and function.attr in names.OF_LOGGERS
        if is_logging or (isinstance(function, ast.Name) and function.id == "print"):
            return "plain"
        given = [self.kind(item) for item in node.args] + [self.kind(item.value) for item in node.keywords]
        has_tensors = not {"tensor", "tensors"}.isdisjoint(given)
        target = self._value(function)
        if target is not MISSING and target is not None:
            return self._call_known(node, target, has_tensors=has_tensors)
        if isinstance(function, ast.Attribute):
            return self._call_method(function, has_tensors=has_tensors)
        if self.kind(function) in {"module", "torch function"}:
            return self._run()
        return self._run() if has_tensors else "unknown"

    def _run(self) -> Kind:
        if self._stops:
            raise _Runs
        self.runs = True
        return "tensor"

    def _call_known(self, node: ast.Call, target: Any, *, has_tensors: bool) -> Kind:
        kind, name = self._scope.kind_of(target), getattr(target, "__name__", "")
        if kind == "module" or (kind == "torch function" and not name.startswith(names.NO_OPS)):
            return self._run()
        if kind == "module class":
            return "module"
        if kind == "function":
            return self._call_function(node, plain_function(target), has_tensors=has_tensors)
        if name in names.READ and has_tensors:
            self._run()
            return "plain" if name in {"float", "int", "bool"} else "tensor"
        if name in names.GATHER or isinstance(target, type):
            return self._display(node.args) if not has_tensors else "tensors"
        return "plain"

    def _call_method(self, function: ast.Attribute, *, has_tensors: bool) -> Kind:
        base, name = self.kind(function.value), function.attr
        if base == "tensor":
            return self._call_tensor_method(function)
        if base == "plain" or name in names.OF_CONTAINERS or name in names.FACTS:
            return "tensors" if base == "tensors" or has_tensors else "plain"
        return self._run() if has_tensors else "unknown"

    def _call_tensor_method(self, function: ast.Attribute) -> Kind:
        name, value = function.attr, self._value(function.value)
        if name in names.FACTS:
            return "plain"
        if value is not MISSING and value is not None and not hasattr(type(value), name):
            return "unknown"  # tensors have no such method: it is another object where this runs
        self._run()
        return "plain" if name in {"item", "tolist"} else "tensor"

    def _call_function(self, node: ast.Call, function: Any, *, has_tensors: bool) -> Kind:
        """Look into a function of the model."""
        if not self._deepest:
            self.left_unread = True
            return "tensor" if has_tensors else "unknown"
        trees = self._sources.find(function.__code__)
        if len(trees) != 1:
            return self._run() if has_tensors else "unknown"
        kinds_of, values = self._bind_arguments(node, function)
        inner = _Judge(_scope_of(function, values, self._scope), self._sources, self._deepest - 1, stops=self._stops)
        inner.names = kinds_of
        body: Any = getattr(trees[0], "body", None)
        inner.visit_all(body if isinstance(body, list) else [ast.Return(value=body)])
        self.runs |= inner.runs
        kinds = set(inner.returned) - {"none", "plain"}
        return next(iter(kinds)) if len(kinds) == 1 else "tensor" if kinds else "plain"

    def _bind_arguments(self, node: ast.Call, function: Any) -> tuple[dict[str, Kind], dict[str, Any]]:
        """The kinds of the arguments of a call, and the values of those that are known."""
        code = function.__code__
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        arguments = [*node.args]
        if isinstance(node.func, ast.Attribute) and parameters[:1] in {("self",), ("cls",)}:
            arguments.insert(0, node.func.value)
        given = {**dict(zip(parameters, arguments, strict=False)), **{item.arg: item.value for item in node.keywords}}
        kinds, values = dict[str, Kind](), dict[str, Any]()
        for name in parameters:
            argument = given.get(name)
            value = self._value(argument)
            if value is MISSING or value is None:
                kinds[name] = self.kind(argument) if argument is not None else "unknown"
            else:
                values[name] = value
        return kinds, values

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


def _scope_of(function: Any, values: dict[str, Any], outer: Scope) -> Scope:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            values.setdefault(name, cell.cell_contents)
        except ValueError:  # not assigned yet
            continue
    return Scope(values, function.__globals__, (), outer.classify, {})
