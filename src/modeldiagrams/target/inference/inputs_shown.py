"""What the project calls a model with, where its code makes the model."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.parameters import frames
from modeldiagrams.target.inference.trees import Unreadable

if TYPE_CHECKING:
    from modeldiagrams.target.inference.parsed_file import ParsedFile
    from modeldiagrams.target.inference.scope import Scope
    from modeldiagrams.target.inference.written_objects import Reader

__all__ = ["inputs_shown"]


def inputs_shown(reader: Reader, source: ParsedFile, made: ast.Call, scope: Scope) -> list[list[Any]]:
    """Arguments of calls of the name that a call's result is assigned to."""
    names = dict.fromkeys(
        target.id
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign) and _passes_on(node.value, made)
        for target in node.targets
        if isinstance(target, ast.Name)
    )
    found: list[list[Any]] = []
    for node in [call for name in names for call in source.calls.get(name, [])]:
        if isinstance(node.func, ast.Name) and node.args and not node.keywords:
            for place in [scope, *frames(reader.sources, source, source.around[node])][:2]:
                try:
                    entries = [reader.entry(argument, place) for argument in node.args]
                except Unreadable:
                    continue
                if entries not in found:
                    found.append(entries)
                break
    return found


def _passes_on(value: ast.expr, made: ast.Call) -> bool:
    """Whether what is made gets the inputs of a value: ``Model(3).to(device)``, ``torch.compile(Model(3))``."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Call() as inner)) | ast.Call(args=[inner]) if value is not made:
            return _passes_on(inner, made)
    return value is made
