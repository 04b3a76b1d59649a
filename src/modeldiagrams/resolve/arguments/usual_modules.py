"""Modules made up for arguments that the project has none for: small, and of the sizes that are asked for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.resolve.code.source import tree_of
from modeldiagrams.resolve.names.vocabulary import is_a_width, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.resolve.arguments.stand_in_numbers import Slot

__all__ = ["HELD_FOR", "WITH", "gives_map", "made_up_modules"]

WITH = "modeldiagrams.resolve.objects.with_attributes"
"""Makes a module that has more attributes than its class."""
HELD_FOR = "_modeldiagrams_held_for"
"""Attribute of a module with the argument that it was made for; copies of the module have it, too."""
_WIDTH, _WIDTHS = "<width>", "<widths>"
_MAP_LAYERS = (
    nn.Conv2d,
    nn.LazyConv2d,
    nn.ConvTranspose2d,
    nn.BatchNorm2d,
    nn.MaxPool2d,
    nn.AvgPool2d,
    nn.AdaptiveAvgPool2d,
    nn.AdaptiveMaxPool2d,
    nn.Upsample,
)
_MAP_FUNCTIONS = ("adaptive_avg_pool2d", "adaptive_max_pool2d", "avg_pool2d", "max_pool2d", "conv2d", "interpolate")
_TABLE, _ROWS = nn.Embedding, 100
_LAST_TWO = ({2, 3}, {-2, -1})
_SIDES = (2, 3, -2, -3)
"""Dimensions that no table of rows has."""


def made_up_modules(slot: Slot) -> list[Any]:
    """Modules for an argument, as options, likeliest first."""
    needed = {name: need for name, need in slot.needs.items() if need.kind in ("number", "items")}
    lists = [need for need in needed.values() if need.kind == "items"]
    numbers = [need.option() for need in needed.values() if need.kind == "number"] or [*_widths_inside(slot)]
    wanted = "maps" if lists else "map" if slot.gives_map or any("channels" in name for name in needed) else "rows"
    rows = [row for row in rows_of("modules", slot.name) if _inputs(row) <= max(1, slot.call[0])]
    rows = [row for row in rows if row.get("gives") != "maps" or lists]
    rows.sort(key=lambda row: (_inputs(row) != _inputs_of(slot), wanted != "rows" and row.get("gives") != wanted))
    width = next((number for number in numbers if type(number) is int), slot.width)
    widths = [item.option() for item in lists[0].tried()[1:]] if lists else []
    made = [_filled(row["value"], width, widths) for row in rows]
    if not slot.needs:
        return made
    alike = [{"_target_": f"torch.nn.{_TABLE.__name__}", "_args_": [_ROWS, width]}] if _is_table(slot) else []
    return [*alike, *({"_target_": WITH, "_args_": [body]} for body in made)]


def _is_table(slot: Slot) -> bool:
    """Whether all that is read of a module are sizes of a table: ``words.embedding_dim``."""
    return {*slot.needs} <= {*_TABLE.__constants__}


def _widths_inside(slot: Slot) -> Iterator[Any]:
    """Widths that are read of a module's configuration: ``bert.config.hidden_size``."""
    for need in slot.needs.values():
        for inner in need.children.values() if need.kind == "fields" else ():
            if inner.kind == "number" and is_a_width(inner.name):
                yield inner.option()


def _inputs(row: dict[str, Any]) -> int:
    return int(row.get("inputs", 1))


def _inputs_of(slot: Slot) -> int:
    """How many inputs it is called with, where a made-up module takes as many."""
    return max(1, min(int(slot.call[0]), 2))


def _filled(entry: Any, width: int, widths: list[int]) -> Any:
    match entry:
        case str() if entry == _WIDTH:
            return width
        case str() if entry == _WIDTHS:
            return widths
        case dict():
            return {key: _filled(item, width, widths) for key, item in entry.items()}
        case list():
            return [_filled(item, width, widths) for item in entry]
    return entry


def gives_map(model: nn.Module, name: str) -> bool:
    """Whether what a part of a model gives is used as a picture with rows and columns is, and not as rows of numbers.

    Args:
        model: The model.
        name: Of the attribute that holds the part.
    """
    tree = tree_of(getattr(type(model), "forward", None))
    calls = [node for node in ast.walk(tree) if _is_call_of(node, name)]
    held: list[ast.AST | str] = [name for node in ast.walk(tree) for name in _assigned(node, calls)]
    return any(_is_used_as_map(tree, model, made) for made in [*calls, *held])


def _is_call_of(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=called)):
            return called == name
    return False


def _assigned(node: ast.AST, calls: list[ast.AST]) -> Iterator[str]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value in calls:
            yield name


def _is_used_as_map(tree: ast.AST, model: nn.Module, made: ast.AST | str) -> bool:
    return any(_takes_map(node, model, made) for node in ast.walk(tree))


def _takes_map(node: ast.AST, model: nn.Module, made: ast.AST | str) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=[first, *_]) if _is(first, made):
            return _module_takes_map(getattr(model, name, None))
        case ast.Call(func=ast.Attribute(attr=name), args=[first, *_]) if _is(first, made):
            return name in _MAP_FUNCTIONS
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if _is(owner, made):
            return _method_takes_map(name, args)
        case ast.Assign(targets=[ast.Tuple(elts=[_, _, _, _])], value=ast.Attribute(value=owner, attr="shape")):
            return _is(owner, made)
        case ast.Assign(
            targets=[ast.Tuple(elts=[_, _, _, _])],
            value=ast.Call(func=ast.Attribute(value=owner, attr="size"), args=[]),
        ):
            return _is(owner, made)
    return False


def _is(node: ast.AST, made: ast.AST | str) -> bool:
    return node is made or (isinstance(node, ast.Name) and node.id == made)


def _module_takes_map(module: Any) -> bool:
    """A layer, a sequence that begins with one, or a module of the model's author whose forward does it."""
    if isinstance(module, nn.Sequential) and len(module):
        return _module_takes_map(module[0])
    if not isinstance(module, nn.Module) or type(module).__module__.startswith("torch."):
        return isinstance(module, _MAP_LAYERS)
    tree = tree_of(getattr(type(module), "forward", None))
    function = next(iter(tree.body), None)
    names = [each.arg for each in function.args.args[1:2]] if isinstance(function, ast.FunctionDef) else []
    return any(_is_used_as_map(tree, module, name) for name in names)


def _method_takes_map(name: str, args: list[ast.expr]) -> bool:
    numbers = [_number(arg) for arg in args]
    match name, args:
        case (("mean" | "sum" | "amax"), [ast.Tuple(elts=dims) | ast.List(elts=dims), *_]):
            return {_number(dim) for dim in dims} in _LAST_TWO
        case "flatten", _:
            return bool(numbers) and numbers[0] in (1, 2)
        case "size", _:
            return any(number in _SIDES for number in numbers)
        case "permute", [_, _, _, _]:
            return True
    return False


def _number(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
