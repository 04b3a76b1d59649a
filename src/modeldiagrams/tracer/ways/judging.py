"""Decides from the source whether code runs tensors or modules."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.ways import known_names
from modeldiagrams.tracer.ways.expressions import Expressions, Runs
from modeldiagrams.tracer.ways.scope import MISSING, Kind, NameScope, plain_function

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from modeldiagrams.tracer.ways.syntax import Sources

_DEEPEST = 3
"""Calls of the model's functions to look into."""


def runs_tensors(nodes: Sequence[ast.AST], known: Mapping[str, Kind], scope: NameScope, sources: Sources) -> bool:
    """Whether statements, or an expression, run tensors or modules; `known` are kinds that names have there."""
    for deepest in (0, _DEEPEST):  # most need no look into the functions that they call, which takes long
        judge = _Judge(scope, sources, deepest, stops=True)
        judge.names.update(known)
        try:
            judge.visit_all(nodes)
        except Runs:
            return True
        if not judge.left_unread:
            break
    return False


def kind_of(node: ast.expr, scope: NameScope, sources: Sources) -> tuple[Kind, bool]:
    """What an expression gives, and whether it runs tensors or modules."""
    judge = _Judge(scope, sources, _DEEPEST)
    return judge.kind(node), judge.runs


class _Judge(Expressions):
    """Goes through code in its order; knows what kind of value each name holds."""

    def __init__(self, scope: NameScope, sources: Sources, deepest: int, *, stops: bool = False) -> None:
        super().__init__(scope, stops=stops)
        self.returned: list[Kind] = []
        self.left_unread = False
        """Whether a function was called that a deeper look would read."""
        self._sources = sources
        self._deepest = deepest

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self._visit(node)

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

    def _call(self, node: ast.Call) -> Kind:
        function = node.func
        is_logging = isinstance(function, ast.Attribute) and function.attr in known_names.OF_LOGGERS
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

    def _call_known(self, node: ast.Call, target: Any, *, has_tensors: bool) -> Kind:
        kind, name = self._scope.kind_of(target), getattr(target, "__name__", "")
        if kind == "module" or (kind == "torch function" and not name.startswith(known_names.NO_OPS)):
            return self._run()
        if kind == "module class":
            return "module"
        if kind == "function":
            return self._call_function(node, plain_function(target), has_tensors=has_tensors)
        if name in known_names.READ and has_tensors:
            self._run()
            return "plain" if name in {"float", "int", "bool"} else "tensor"
        if name in known_names.GATHER or isinstance(target, type):
            return self._display(node.args) if not has_tensors else "tensors"
        return "plain"

    def _call_method(self, function: ast.Attribute, *, has_tensors: bool) -> Kind:
        base, name = self.kind(function.value), function.attr
        if base == "tensor":
            return self._call_tensor_method(function)
        if base == "plain" or name in known_names.OF_CONTAINERS or name in known_names.FACTS:
            return "tensors" if base == "tensors" or has_tensors else "plain"
        return self._run() if has_tensors else "unknown"

    def _call_tensor_method(self, function: ast.Attribute) -> Kind:
        name, value = function.attr, self._value(function.value)
        if name in known_names.FACTS:
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


def _scope_of(function: Any, values: dict[str, Any], outer: NameScope) -> NameScope:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            values.setdefault(name, cell.cell_contents)
        except ValueError:  # not assigned yet
            continue
    return NameScope(values, function.__globals__, (), outer.classify, {})
