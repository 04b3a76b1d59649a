"""Where code decides by a tensor's value, read from its syntax tree."""

from __future__ import annotations

import ast
import dis
import itertools
import linecache
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, FrameType

__all__ = ["DecisionPlace", "DecisionPlaces"]

Role: TypeAlias = Literal["if", "while", "for", "assert", "check", "value"]
_TESTS: dict[type, Role] = {ast.If: "if", ast.IfExp: "if", ast.While: "while", ast.Assert: "assert"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_TESTING = ("COPY", "JUMP_IF", "POP_JUMP", "TO_BOOL", "UNARY_NOT")
"""Prefixes of instructions that test a value."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DecisionPlace:
    """An expression of the model that depends on a tensor's value."""

    source: str
    """``file:line``, as in graphs."""
    role: Role
    """What it decides: ``check`` is an ``if`` that only raises, ``for`` a loop's count, ``value`` anything else."""
    text: str
    """The condition, or else the statement, in one line."""
    negated: bool = False
    """Whether the condition says ``not`` about the value."""
    loop: type | None = None
    """Class of the innermost loop around it in its function."""
    compares: bool = True
    """Whether it can be a comparison or a test written there, rather than one inside a function written in C."""


class DecisionPlaces:
    """Finds the place of a running frame; each is found once."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, Any], DecisionPlace] = {}
        self._positions: dict[CodeType, dict[int, Any]] = {}
        self._trees: dict[str, tuple[str, Sequence[ast.AST]]] = {}

    def find(self, frame: FrameType, line: str) -> DecisionPlace:
        """The place of what a frame of the model's code runs now, at a ``file:line``."""
        code, at = frame.f_code, frame.f_lasti
        if code not in self._positions:
            self._positions[code] = _positions_of(code)
        while at not in self._positions[code]:  # the instruction's cache
            at -= 2
        position = self._positions[code][at]
        key = code.co_filename, position
        if key not in self._places:
            text, nodes = self._parse(code.co_filename)
            chain = [node for node in nodes if None not in position and _covers(node, *position)]
            unread = DecisionPlace(
                source=line, role="value", text=linecache.getline(code.co_filename, frame.f_lineno).strip()
            )
            self._places[key] = _describe(chain, text, line) if chain else unread
        return self._places[key]

    def _parse(self, path: str) -> tuple[str, Sequence[ast.AST]]:
        """The text of a file and the nodes of its syntax tree, the outer ones first."""
        if path not in self._trees:
            text = "".join(linecache.getlines(path))
            try:
                nodes = [node for node in ast.walk(ast.parse(text)) if hasattr(node, "lineno")]
            except (SyntaxError, ValueError):  # generated, or not the file that runs
                nodes = []
            self._trees[path] = text, nodes
        return self._trees[path]


def _positions_of(code: CodeType) -> dict[int, Any]:
    """Instruction → first and last line, first and last column; of a test, those of the value that it tests.

    Python gives the test in an ``if`` the position of the whole statement, or that of another part of the condition.
    """
    found: dict[int, Any] = {}
    tested: Any = (None,)
    for step in dis.get_instructions(code):
        if step.positions is not None and not step.opname.startswith(_TESTING):
            tested = tuple(step.positions)
        found[step.offset] = tested
    return found


def _covers(node: Any, first: int, last: int, start: int, end: int) -> bool:
    begins, ends = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return begins <= (first, start) and (last, end) <= ends


def _describe(chain: Sequence[ast.AST], text: str, source: str) -> DecisionPlace:
    """Describe the place of the last of these nodes, each of which is in the one before."""
    inner = [*itertools.takewhile(lambda node: not isinstance(node, _FUNCTIONS), reversed(chain))]
    function = chain[-len(inner) - 1 if len(inner) < len(chain) else 0]
    role, within = _decided(inner, function)
    shown = " ".join((ast.get_source_segment(text, within[-1]) or "").split())
    return DecisionPlace(
        source=source,
        role=role,
        text=f"case {shown}" if isinstance(within[-1], ast.pattern) else shown,
        negated=role != "value" and sum(isinstance(getattr(node, "op", None), ast.Not) for node in within) % 2 == 1,
        loop=next((type(node) for node in inner if isinstance(node, _LOOPS)), None),
        compares=not isinstance(inner[0], ast.Call | ast.Subscript),
    )


def _decided(inner: Sequence[ast.AST], function: ast.AST) -> tuple[Role, Sequence[ast.AST]]:
    """The role of a value, and the nodes from it to the condition or statement that has it, the innermost first."""
    for i, node in enumerate(inner[1:], 1):
        child = inner[i - 1]
        if type(node) in _TESTS and child is node.test:  # type: ignore[attr-defined]
            only_raises = isinstance(node, ast.If) and all(isinstance(each, ast.Raise) for each in node.body)
            # `a and b` are two conditions
            joined = next((k for k in range(1, i) if isinstance(inner[k], ast.BoolOp)), i)
            return "check" if only_raises else _TESTS[type(node)], inner[:joined]
        loops: Sequence[Any] = [node] if isinstance(node, ast.For) else getattr(node, "generators", ())
        if any(child is loop.iter for loop in loops):
            return "for", inner[:i]
        if any(child in getattr(loop, "ifs", ()) for loop in loops):
            return "if", inner[:i]
        if isinstance(child, ast.pattern) and not isinstance(node, ast.pattern):
            return "if", inner[:i]
        if isinstance(node, ast.stmt):
            return "for" if _is_count(node, function) else "value", inner[: i + 1]
    return "value", inner[:1]


def _is_count(statement: ast.stmt, function: ast.AST) -> bool:
    """Whether a statement names a value that the function passes to `range`."""
    named = {each.id for each in getattr(statement, "targets", ()) if isinstance(each, ast.Name)}
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
    ranges = (call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "range")
    return any(isinstance(each, ast.Name) and each.id in named for call in ranges for each in call.args)
