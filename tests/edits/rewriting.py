"""Edits of the source of a class, as in an editor: its instances go on with the new code."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import torch

from edits.subject import InapplicableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn


def rewrite(model: nn.Module, class_: type, change: Callable[[ast.FunctionDef], Any], *, name: str = "") -> None:
    """Give all instances of a class new code: `change` edits its `forward`, or each method that it has to."""
    new = _compiled(class_, change)
    new.__name__ = name or class_.__name__
    new.__qualname__ = name or class_.__qualname__
    for module in model.modules():
        if type(module) is class_:
            module.__class__ = new


def _compiled(class_: type, change: Callable[[ast.FunctionDef], Any]) -> type:
    try:
        lines, start = inspect.getsourcelines(class_)
    except (OSError, TypeError) as error:
        raise InapplicableError("no source") from error
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, start - 1)
    body = tree.body[0]
    if not isinstance(body, ast.ClassDef):
        raise InapplicableError("no class")
    body.decorator_list = []
    for method in body.body:
        if isinstance(method, ast.FunctionDef):
            change(method)
    ast.fix_missing_locations(tree)
    names = {**vars(sys.modules[class_.__module__]), "torch": torch}
    exec(compile(tree, inspect.getsourcefile(class_) or "", "exec"), names)  # noqa: S102
    return names[class_.__name__]


def source_has(class_: type, test: Callable[[ast.AST], bool]) -> bool:
    """Whether the source of a class's `forward` has such a part."""
    found = []

    def look(method: ast.FunctionDef) -> None:
        if method.name == "forward":
            found.extend(node for node in ast.walk(method) if test(node))

    try:
        _compiled(class_, look)
    except (InapplicableError, NameError, SyntaxError, KeyError, TypeError):
        return False
    return bool(found)


def rename_attribute(old: str, new: str) -> Callable[[ast.FunctionDef], None]:
    """`self.old` → `self.new`."""

    def change(method: ast.FunctionDef) -> None:
        for node in ast.walk(method):
            if isinstance(node, ast.Attribute) and node.attr == old and _is_self(node.value):
                node.attr = new

    return change


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def on_return(text: str) -> Callable[[ast.FunctionDef], None]:
    """`return x` → `return f(x)`; in the text, `VALUE` stands for what was returned and `FIRST` for the first input."""

    def change(method: ast.FunctionDef) -> None:
        if method.name != "forward":
            return
        if len(method.args.args) > 1:
            # the name may have another value by then
            method.body.insert(0, ast.parse(f"given_first = {method.args.args[1].arg}").body[0])
        for node in ast.walk(method):
            if isinstance(node, ast.Return) and node.value is not None:
                node.value = _filled(text, node.value)

    return change


def _filled(text: str, value: ast.expr) -> ast.expr:
    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id == "VALUE":
                return value
            return ast.Name("given_first", ast.Load()) if node.id == "FIRST" else node

    return Fill().visit(ast.parse(text, mode="eval").body)


def replace_calls(old: Callable[[ast.Call], bool], new: Callable[[ast.Call], ast.expr]) -> Callable[..., None]:
    """Calls in `forward` that a test finds → other expressions."""

    class Replace(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.expr:
            self.generic_visit(node)
            return new(node) if old(node) else node

    def change(method: ast.FunctionDef) -> None:
        if method.name == "forward":
            Replace().visit(method)

    return change


def parsed(text: str) -> ast.expr:
    """An expression from its source."""
    return ast.parse(text, mode="eval").body
