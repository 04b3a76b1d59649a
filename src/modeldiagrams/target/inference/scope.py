"""What names mean at one place of a project's code, where functions are called in a certain way."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.target.inference.parsed_file import ParsedFile

__all__ = ["Known", "Meaning", "Scope"]


@dataclass(frozen=True)
class Known:
    """The value of a name that is no expression."""

    value: Any


@dataclass(frozen=True)
class Scope:
    """A module, a class, or a function that is called in one way."""

    source: ParsedFile
    node: ast.AST
    outer: Scope | None = None
    parameters: Mapping[str, Meaning] = field(default_factory=dict)

    def find(self, name: str) -> Meaning:
        """What a name is.

        Raises:
            KeyError: if nothing here assigns it.
        """
        names = self.source.names(self.node)
        if name in self.parameters:
            return None if name in names else self.parameters[name]  # which of both, only a run would tell
        if name in names:
            value = names[name]
            return None if value is None else (value, self)
        if self.outer is None:
            raise KeyError(name)
        is_method = isinstance(self.outer.node, ast.ClassDef) and self.outer.outer is not None
        return (self.outer.outer if is_method and self.outer.outer else self.outer).find(name)

    def holder(self, name: str) -> ast.AST:
        """Whose name it is."""
        scope: Scope = self
        while scope.outer is not None and name not in scope.parameters and name not in scope.source.names(scope.node):
            scope = scope.outer
        return scope.node

    def class_of(self, name: str) -> Scope | None:
        """The class whose methods call their own object by this name."""
        scope: Scope | None = self
        while scope is not None:
            function, outer = scope.node, scope.outer
            if isinstance(function, ast.FunctionDef) and outer is not None and isinstance(outer.node, ast.ClassDef):
                first = [*function.args.posonlyargs, *function.args.args][:1]
                return outer if [argument.arg for argument in first] == [name] else None
            scope = outer
        return None


Meaning = Known | tuple[ast.expr, Scope] | None
"""A value, or an expression with what its names mean; None where only a run would tell."""
