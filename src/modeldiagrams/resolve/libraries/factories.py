"""Finds functions next to a class that make one without arguments: ``resnet18`` for ``ResNet``.

They are found by reading. Which of them is called is for the caller to decide: a function counts if all it does is to
return something that it made of the class, itself or by another such function, so that no training is taken for one.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.code.source import parse_source
from modeldiagrams.resolve.names.conventions import list_required_parameters
from modeldiagrams.resolve.names.vocabulary import find_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["find_factories", "list_missing_values", "list_small_values"]

_MORE = (ast.While, ast.With, ast.Try, ast.Yield, ast.YieldFrom)
"""What a function has that does more than to make something."""
_TRAINS = re.compile("backward|step|zero_grad|fit|train|run|main|save")
"""Methods by which it does something with what it made."""


def find_factories(found: type) -> Iterator[Callable[..., Any]]:
    """Public functions in the module of a class that return one and require no argument.

    Those that have its name in theirs come first, as ``efficientnet_b0`` for ``EfficientNet``, else as in the source.

    Args:
        found: The class. That they really return one, and no other, is not known before they are called.
    """
    module = sys.modules.get(found.__module__)
    names = _makers(parse_source(module), found.__name__)
    for name in sorted(names, key=lambda name: not _plain(name).startswith(_plain(found.__name__))):
        function = getattr(module, name, None)
        if not name.startswith("_") and inspect.isfunction(function) and not list_required_parameters(function):
            yield function


def _makers(tree: ast.Module, class_: str) -> list[str]:
    """Names of the functions that return what they make of a class, or get from another such function."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not _does_more(node)]
    known, before = {class_}, 0
    while len(known) > before:
        before = len(known)
        known |= {function.name for function in functions if _returns(function, known)}
    return [function.name for function in functions if function.name in known]


def _does_more(function: ast.FunctionDef) -> bool:
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    trains = any(isinstance(called, ast.Attribute) and _TRAINS.fullmatch(called.attr) for called in calls)
    return trains or any(isinstance(node, _MORE) for node in ast.walk(function))


def _returns(function: ast.FunctionDef, known: set[str]) -> bool:
    """Whether what it returns is made of a known name: ``model = Net(8)`` and ``return model``."""
    made, before = {*known}, 0
    assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    while len(made) > before:
        before = len(made)
        for node in assigned:
            if _names(node.value) & made:
                made |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    return any(_names(value) & made for value in returned)


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def list_small_values(config: Any) -> dict[str, Any]:
    """Values of the option `config` that leave out most layers.

    Args:
        config: The default configuration. Widths stay as they are, because they depend on each other.

    Returns:
        Field → number, or the same for a configuration inside; empty if there is nothing to leave out.
    """
    return _values(config, _fewer)


def list_missing_values(config: Any) -> dict[str, Any]:
    """Values of the option `config` that every pass needs and that have no default.

    Args:
        config: The default configuration.

    Returns:
        As for `list_small_values`; empty if nothing is missing.
    """
    return _values(config, _missing)


def _values(config: Any, change: Callable[[str, Any], Any]) -> dict[str, Any]:
    """Those that are changed, also in configurations inside."""
    values: dict[str, Any] = {}
    for name, value in getattr(config, "__dict__", {}).items():
        if hasattr(value, "model_type") and hasattr(value, "__dict__"):
            inside = _values(value, change)
            changed = {"model_type": value.model_type, **inside} if inside else None
        else:
            changed = None if name.startswith("_") else change(name, value)
        if changed is not None:
            values[name] = changed
    return values


def _fewer(name: str, value: Any) -> Any:
    few = find_value("reduced_config", name) if isinstance(value, int) else None
    return few if few is not None and few < value else None


def _missing(name: str, value: Any) -> Any:
    return find_value("missing_in_config", name) if value is None else None
