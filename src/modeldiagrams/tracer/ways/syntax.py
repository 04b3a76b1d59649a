"""Finds the branches of a function in its source."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import tokenize
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType

Statement: TypeAlias = Literal["if", "expression", "match", "for", "while"]
Place: TypeAlias = "tuple[int, int]"
"""Line and column."""
Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | Comprehension"
Comprehension: TypeAlias = "ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp"

Index: TypeAlias = "dict[tuple[int, str], list[Function]]"
"""First line and name of code → the functions and comprehensions with that code."""

_JUMPS = (ast.Return, ast.Continue, ast.Break)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_OTHER_CODE = (*_FUNCTIONS, ast.ClassDef)
_NAMES = {
    ast.Lambda: "<lambda>",
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
"""Names of the code of expressions."""
_WORK = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.AugAssign, ast.Attribute, ast.For)
"""What may run tensors."""


@dataclass(frozen=True)
class Option:
    """One side of a branch."""

    name: str
    nodes: tuple[ast.AST, ...]
    """Statements, or one expression."""
    unless: ast.If | None = None
    """For the rest of a loop: the ``if`` that leaves it. This side ran if its condition was reached more often than its
    body: other code of this side also runs before."""

    @functools.cached_property
    def may_run(self) -> bool:
        """Whether there is anything in it that could run tensors."""
        return any(isinstance(inner, _WORK) for node in self.nodes for inner in own_nodes(node))

    def covers(self, start: Place, end: Place) -> bool:
        """Whether a piece of code is in it."""
        return any(start_of(node) <= start and end <= end_of(node) for node in self.nodes)


@dataclass(eq=False)
class CodeBranch:
    """A place where a function leads on in several ways."""

    statement: Statement
    test: ast.expr
    """The condition, the subject of a ``match``, or what a loop runs over."""
    options: tuple[Option, ...]
    function: Function
    """Where it is."""
    guards: tuple[ast.expr, ...] = ()
    """The conditions around it, in the same function."""
    exact_lines: frozenset[int] = field(init=False)
    """Lines that belong to several sides: that a line ran does not tell which did."""

    def __post_init__(self) -> None:
        groups = [lines_of([self.test]), *(lines_of(option.nodes) for option in self.options)]
        if self.statement == "expression":
            self.exact_lines = frozenset[int]().union(*groups)
            return
        shared = [one & other for i, one in enumerate(groups) for other in groups[:i]]
        self.exact_lines = frozenset[int]().union(*shared)


def start_of(node: ast.AST) -> Place:
    """Where a node begins; for what has decorators, the first of them."""
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def end_of(node: ast.AST) -> Place:
    """Where a node ends."""
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def lines_of(nodes: Sequence[ast.AST]) -> set[int]:
    """All lines of nodes."""
    return {line for node in nodes for line in range(start_of(node)[0], end_of(node)[0] + 1)}


def text_of(node: ast.expr, file: str) -> str:
    """An expression as written, in one line."""
    (first, start), (last, end) = start_of(node), end_of(node)
    lines = [line.encode() for line in linecache.getlines(file)[first - 1 : last]]
    if len(lines) <= last - first or any(b"#" in line for line in lines[:-1]):
        return ast.unparse(node)
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return " ".join(b" ".join(lines).decode(errors="replace").split())


class Sources:
    """The syntax trees of the functions that ran."""

    def __init__(self) -> None:
        self._known: dict[str, Index] = {}
        """By file."""
        self._parsed: set[str] = set()
        """Files that were parsed as a whole."""

    def find(self, code: CodeType) -> list[Function]:
        """Find the functions that may have this code: several for lambdas on one line; none if the source is gone."""
        file, place = code.co_filename, (code.co_firstlineno, code.co_name)
        known = self._known.setdefault(file, {})
        if place not in known and not code.co_name.startswith("<"):
            known.update({**_index_of(code, file), **known})
        if place not in known and file not in self._parsed:
            self._parsed.add(file)
            known.update({**_index("".join(linecache.getlines(file)), 0), **known})
        return known.setdefault(place, [])


@functools.lru_cache(maxsize=512)  # a model is traced several times, and this takes a fifth of what ways may take
def _index_of(code: CodeType, _file: str) -> Index:
    """The functions in a function's own source, which is parsed in a small part of the time that its file takes.

    Code objects of equal functions in two files are equal.
    """
    first = code.co_firstlineno
    try:
        lines = inspect.getblock(linecache.getlines(code.co_filename)[first - 1 :])
    except (SyntaxError, tokenize.TokenError):
        return {}
    is_indented = bool(lines) and lines[0][:1].isspace()
    return _index("".join(["if 1:\n" if is_indented else "\n", *lines]), first - 2)


def _index(text: str, line: int) -> Index:
    """The functions and comprehensions in a text after a line; none if it is no whole statement."""
    found: Index = {}
    try:
        tree = ast.increment_lineno(ast.parse(text), line)
    except (SyntaxError, ValueError):
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found.setdefault((first, node.name), []).append(node)
        elif (name := _NAMES.get(type(node))) is not None:
            found.setdefault((node.lineno, name), []).append(node)  # type: ignore[attr-defined, arg-type]
    return found


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all nodes in it, without the bodies of the functions and classes in it."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _OTHER_CODE):
            todo += reversed([*ast.iter_child_nodes(node)])


@functools.lru_cache(maxsize=1024)
def find_branches(function: Function) -> tuple[CodeBranch, ...]:
    """Find the branches of a function or comprehension, in the order of the code."""
    return tuple(_Search(function).found)


@functools.lru_cache(maxsize=256)
def annotations_of(function: Function) -> dict[str, str]:
    """The annotations of a function's parameters, as written."""
    given: Any = getattr(function, "args", None)
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs] if given is not None else []
    return {item.arg: ast.unparse(item.annotation) for item in parameters if item.annotation is not None}


class _Search:
    """Collects the branches of a function."""

    def __init__(self, function: Function) -> None:
        self.found: list[CodeBranch] = []
        self._function = function
        self._loop: ast.For | ast.AsyncFor | ast.While | None = None
        """The innermost loop around what is searched."""
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            self._search_block(function.body, (), ())
        else:
            for part in ast.iter_child_nodes(function):
                self._search_expressions(part, ())

    def _add(
        self, statement: Statement, test: ast.expr, options: Sequence[Option], guards: tuple[ast.expr, ...]
    ) -> None:
        if not isinstance(test, ast.Constant):
            self.found.append(CodeBranch(statement, test, tuple(options), self._function, guards))

    def _search_block(
        self, block: Sequence[ast.stmt], after: tuple[ast.stmt, ...], guards: tuple[ast.expr, ...]
    ) -> None:
        """Search statements; `after` runs when they end without a jump."""
        for i, statement in enumerate(block):
            rest = tuple(block[i + 1 :]) or after
            if isinstance(statement, _OTHER_CODE):
                continue
            for part in ast.iter_child_nodes(statement):
                if not isinstance(part, ast.stmt | ast.excepthandler | ast.match_case):
                    self._search_expressions(part, guards)
            if isinstance(statement, ast.If):
                self._add_if(statement, rest, guards)
                self._search_block(statement.body, rest, (*guards, statement.test))
                self._search_block(statement.orelse, rest, (*guards, statement.test))
            elif isinstance(statement, ast.Match):
                options = [Option(ast.unparse(case.pattern), tuple(case.body)) for case in statement.cases]
                self._add("match", statement.subject, options, guards)
                for case in statement.cases:
                    self._search_block(case.body, rest, (*guards, statement.subject))
            else:
                self._search_other(statement, rest, guards)

    def _search_other(self, statement: ast.stmt, rest: tuple[ast.stmt, ...], guards: tuple[ast.expr, ...]) -> None:
        """Search a loop, or what else has statements inside."""
        body = Option("yes", tuple(getattr(statement, "body", ())))
        if isinstance(statement, ast.For | ast.AsyncFor):
            self._add("for", statement.iter, [body], guards)
        elif isinstance(statement, ast.While):
            self._add("while", statement.test, [body], guards)
        outer, within = self._loop, rest
        if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
            self._loop, within = statement, ()
        for name in ("body", "orelse", "finalbody"):
            self._search_block(getattr(statement, name, ()), within, guards)
            self._loop = outer
        for handler in getattr(statement, "handlers", ()):
            self._search_block(handler.body, within, guards)

    def _add_if(self, statement: ast.If, rest: tuple[ast.stmt, ...], guards: tuple[ast.expr, ...]) -> None:
        """Add an ``if``, unless it is only a check. Where one side jumps, the rest belongs to the other one."""
        yes, no = tuple(statement.body), tuple(statement.orelse)
        exits = isinstance(yes[-1], ast.Return | ast.Break) and not no and not rest
        if isinstance(yes[-1], ast.Raise) or (no and isinstance(no[-1], ast.Raise)):
            return
        if isinstance(yes[-1], _JUMPS):
            no = no or rest
        elif no and isinstance(no[-1], _JUMPS):
            yes += rest
        options = [Option("yes", yes), *([Option("no", no)] if no else [])]
        if exits and self._loop is not None:
            options.append(Option("no", tuple(self._loop.body), unless=statement))
        self._add("if", statement.test, options, guards)

    def _search_expressions(self, node: ast.AST, guards: tuple[ast.expr, ...]) -> None:
        for inner in own_nodes(node):
            if isinstance(inner, ast.IfExp):
                options = [Option("yes", (inner.body,)), Option("no", (inner.orelse,))]
                self._add("expression", inner.test, options, guards)
