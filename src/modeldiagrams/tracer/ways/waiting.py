"""Decides what a condition waits for: by what its names stand for when it is computed, and by where they come from."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from modeldiagrams.tracer.ways import known_names
from modeldiagrams.tracer.ways.judging import kind_of
from modeldiagrams.tracer.ways.scope import MISSING, NameScope
from modeldiagrams.tracer.ways.syntax import own_nodes, start_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modeldiagrams.ir.ways import WaitsFor
    from modeldiagrams.tracer.ways.syntax import CodeBranch, Function, Place, Sources

_IDENTITY = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_PLAIN = (bool, int, float, str, type(None), tuple, list, dict)
_IN_COMPARISON: tuple[WaitsFor, ...] = ("value", "mode", "size", "input", "configuration")
"""What decides where one comparison has several kinds: a size that is compared with a setting is about the size."""
_IN_LIST: tuple[WaitsFor, ...] = ("mode", "value", "input", "size", "configuration")
"""What decides where one of several conditions did, and which is not known."""
_DEEPEST = 6
"""Assignments to follow from one to the next."""


def decide(branch: CodeBranch, function: Function, scope: NameScope, sources: Sources) -> WaitsFor:
    """Decide what a branch waits for."""
    waiting = _Waiting(function, scope, sources, branch)
    if branch.statement in {"for", "match"}:
        return _first(waiting.kinds(branch.test), _IN_COMPARISON)
    return waiting.decide(branch.test)


def _first(kinds: Iterable[WaitsFor], order: Sequence[WaitsFor]) -> WaitsFor:
    found = {*kinds}
    return next((kind for kind in order if kind in found), "other")


def _unite(sets: Iterable[set[WaitsFor]]) -> set[WaitsFor]:
    return {kind for kinds in sets for kind in kinds}


def _expressions_in(node: ast.AST | None) -> list[ast.AST]:
    if node is None:
        return []
    return [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr | ast.comprehension)]


class _Waiting:
    """The kinds of things that expressions of one function depend on."""

    def __init__(self, function: Function, scope: NameScope, sources: Sources, branch: CodeBranch) -> None:
        self._scope = scope
        self._sources = sources
        self._branch = branch
        self._following: set[str] = set()
        self._assigned = _list_assignments(function)

    def decide(self, test: ast.expr, *, negated: bool = False) -> WaitsFor:
        """Decide about a condition; of several, the one counts that decided when it was computed."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.decide(test.operand, negated=not negated)
        if not isinstance(test, ast.BoolOp):
            return _first(self.kinds(test), _IN_COMPARISON)
        ends = isinstance(test.op, ast.Or)  # the truth that ends it
        truths = [self._truth(operand) for operand in test.values]
        for operand, truth in zip(test.values, truths, strict=True):
            if truth is ends:
                return self.decide(operand)
            if truth is None:
                break
        open_ones = [operand for operand, truth in zip(test.values, truths, strict=True) if truth is not (not ends)]
        return _first([self.decide(operand) for operand in open_ones or test.values], _IN_LIST)

    def kinds(self, node: ast.AST | None, *, about: bool = False) -> set[WaitsFor]:
        """The kinds of things an expression depends on; `about`: not on the values of tensors, but what they are."""
        if isinstance(node, ast.Name):
            return self._of_name(node, about=about)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(node, about=about)
        if isinstance(node, ast.Call):
            return self._of_call(node, about=about)
        if isinstance(node, ast.BoolOp):
            return {_first(self.kinds(operand, about=about), _IN_COMPARISON) for operand in node.values}
        children: list[ast.AST] = [node.value] if isinstance(node, ast.Subscript) else _expressions_in(node)
        about = about or (isinstance(node, ast.Compare) and all(isinstance(op, _IDENTITY) for op in node.ops))
        return _unite(self.kinds(child, about=about) for child in children)

    def _of_name(self, node: ast.Name, *, about: bool) -> set[WaitsFor]:
        name = node.id
        kind = self._scope.kind_of(self._scope.value(node))
        if kind == "tensor" and not about:
            return {"value"}
        found: set[WaitsFor] = set()
        if name in self._scope.arguments:
            found.add("configuration" if kind == "module" or self._is_settings(name) else "input")
            if about:
                return found
        elif name in self._scope.variables and name not in self._assigned:  # of the function around this one
            found.add("input" if kind in {"tensor", "tensors", "none"} else "configuration")
        if name in self._assigned and name not in self._following and len(self._following) < _DEEPEST:
            above = [one for one in self._assigned[name] if self._is_above(one)]
            guarding = {guard for one in above for guard in one.guards if guard not in self._branch.guards}
            self._following.add(name)
            for one in above if not (about and guarding) else ():  # what it is was decided by the conditions
                found |= self.kinds(one.value, about=about or kind == "tensor")
            if about or all(isinstance(one.value, ast.Constant) for one in above):
                found |= {_first(self.kinds(guard), _IN_COMPARISON) for guard in guarding}
            self._following.remove(name)
        return found - {"other"}

    def _is_above(self, assignment: _Assignment) -> bool:
        """Whether an assignment may come before the condition of the branch."""
        test = self._branch.test
        return assignment.value is not test and (assignment.place is None or assignment.place < start_of(test))

    def _is_settings(self, name: str) -> bool:
        if name == self._scope.arguments[0] and name in {"self", "cls"}:
            return True
        value = self._scope.value(ast.Name(name))
        return value is not MISSING and ("config" in name.lower() or type(value).__name__.endswith("Config"))

    def _of_attribute(self, node: ast.Attribute, *, about: bool) -> set[WaitsFor]:
        if node.attr == "training":
            return {"mode"}
        base = self._scope.kind_of(self._scope.value(node.value))
        if base != "module" and node.attr in known_names.SIZES:
            return {"size"}
        if node.attr in known_names.PROPERTIES and isinstance(node.value, ast.Name) and base != "module":
            return {"input"}
        if self._scope.kind_of(self._scope.value(node)) == "tensor" and not about:
            return {"value"}
        return self.kinds(node.value, about=True)

    def _of_call(self, node: ast.Call, *, about: bool) -> set[WaitsFor]:
        function = node.func
        owner = function.value if isinstance(function, ast.Attribute) else None
        arguments = [*node.args, *(item.value for item in node.keywords)]
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in known_names.MODES:
            return {"mode"}
        if (owner is not None and name in known_names.SIZES) or (
            owner is None and name == "len" and self._is_tensor(arguments[0])
        ):
            return {"size"}
        if owner is None or name == "is_tensor":
            about = about or name in known_names.ABOUT
        if not about and self._reads_tensors(node):
            return {"value"}
        return self._of_all(arguments, about=about or name != "range") | self.kinds(owner, about=True)

    def _of_all(self, nodes: Sequence[ast.AST], *, about: bool) -> set[WaitsFor]:
        return _unite(self.kinds(node, about=about) for node in nodes)

    def _is_tensor(self, node: ast.expr) -> bool:
        return kind_of(node, self._scope, self._sources)[0] == "tensor"

    def _reads_tensors(self, node: ast.Call) -> bool:
        """Whether the result of a call depends on the values of tensors."""
        kind, runs = kind_of(node, self._scope, self._sources)
        return runs or kind == "tensor"

    def _truth(self, node: ast.expr) -> bool | None:
        """Whether a condition held, if that is known without computing anything."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self._truth(node.operand)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp):
            truths, ends = [self._truth(operand) for operand in node.values], isinstance(node.op, ast.Or)
            return ends if ends in truths else None if None in truths else not ends
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return _compare(node.ops[0], self._known(node.left), self._known(node.comparators[0]))
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in known_names.NEVER:
            return False
        value = self._known(node)
        return bool(value) if value is not MISSING and type(value) in _PLAIN else None

    def _known(self, node: ast.AST) -> Any:
        """What an expression stands for, unless it is the variable of a loop, which changes."""
        changes = isinstance(node, ast.Name) and any(one.repeats for one in self._assigned.get(node.id, ()))
        return MISSING if changes else self._scope.value(node)


class _Assignment(NamedTuple):
    """What is assigned to a name."""

    value: ast.AST
    guards: tuple[ast.expr, ...]
    """The conditions around it."""
    place: Place | None
    """Where; None in a comprehension, whose names exist before their loops are written."""
    repeats: bool
    """Whether it is the variable of a loop."""


_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)


@functools.lru_cache(maxsize=256)
def _list_assignments(function: Function) -> dict[str, list[_Assignment]]:
    """The assignments in a function, by name."""
    found: dict[str, list[_Assignment]] = {}

    def collect(block: Iterable[ast.AST], guards: tuple[ast.expr, ...]) -> None:
        for statement in block:
            is_block = isinstance(statement, _BLOCKS)
            for node in _headers(statement) if is_block else own_nodes(statement):
                for target, value in _assigned_by(node):
                    place = None if isinstance(node, ast.comprehension) else start_of(statement)
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            found.setdefault(name.id, []).append(
                                _Assignment(value, guards, place, isinstance(node, _LOOPS))
                            )
            inside = (*guards, statement.test) if isinstance(statement, ast.If) else guards
            for part in ("body", "orelse", "finalbody") if is_block else ():
                collect(getattr(statement, part, ()), inside)

    body: Any = getattr(function, "body", function)
    collect(body if isinstance(body, list) else [body], ())
    return found


def _headers(statement: ast.AST) -> Iterable[ast.AST]:
    parts = [part for part in ast.iter_child_nodes(statement) if not isinstance(part, ast.stmt | ast.excepthandler)]
    return [statement, *(node for part in parts for node in own_nodes(part))]


def _assigned_by(node: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """Targets and values of an assignment, a loop or a comprehension."""
    if isinstance(node, ast.Assign):
        return [(target, node.value) for target in node.targets]
    if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
        return [(node.target, node.value)]
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        return [(node.target, node.iter)]
    if isinstance(node, ast.withitem) and node.optional_vars is not None:
        return [(node.optional_vars, node.context_expr)]
    return []


def _compare(operator: ast.cmpop, left: Any, right: Any) -> bool | None:
    """The result of a comparison of known, plain values."""
    if left is MISSING or right is MISSING:
        return None
    if isinstance(operator, ast.Is | ast.IsNot):
        return (left is right) == isinstance(operator, ast.Is)
    if type(left) in _PLAIN and type(right) in _PLAIN:
        if isinstance(operator, ast.Eq | ast.NotEq):
            return bool(left == right) == isinstance(operator, ast.Eq)
        if isinstance(left, int | float) and isinstance(right, int | float):
            order = {ast.Lt: left < right, ast.LtE: left <= right, ast.Gt: left > right, ast.GtE: left >= right}
            return order.get(type(operator))
    return None
