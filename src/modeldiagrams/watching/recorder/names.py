"""Names of modules, parameters and tensors, as in the graph of the model."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Names", "name_inputs", "name_outputs", "unwrap"]

_WRAPPING = frozenset({"_orig_mod", "_checkpoint_wrapped_module", "_fsdp_wrapped_module"})
"""Attributes that hold the wrapped module; names in the graph omit them."""
_PARALLEL = (nn.parallel.DistributedDataParallel, nn.DataParallel)
_MAX_DEPTH = 8


def unwrap(model: nn.Module) -> nn.Module:
    """Return the model inside wrappers that compile, distribute or checkpoint it."""
    while True:
        inner = [child for name, child in model.named_children() if _is_wrapping(model, name)]
        if not inner:
            return model
        model = inner[0]


def _is_wrapping(parent: nn.Module, name: str) -> bool:
    return name in _WRAPPING or (name == "module" and isinstance(parent, _PARALLEL))


class Names:
    """Names of a model's modules and parameters.

    Attributes:
        modules: All modules except wrappers, by path; a shared one by its first path.
        parameters: The path of the module and the name in it, by the id() of the parameter.
    """

    def __init__(self, root: nn.Module) -> None:
        self.modules: dict[str, nn.Module] = {}
        self.parameters: dict[int, tuple[str, str]] = {}
        self._paths: dict[int, str] = {}
        self._add(root, "")

    def path(self, module: nn.Module) -> str | None:
        """Return a module's path; None if it belongs to another model, such as a copy with the same hooks."""
        path = self._paths.get(id(module))
        return path if path is not None and self.modules.get(path) is module else None

    def _add(self, module: nn.Module, path: str) -> None:
        if id(module) in self._paths:
            return
        self._paths[id(module)] = path
        children = [(name, child) for name, child in module.named_children() if child is not None]
        if not any(_is_wrapping(module, name) for name, _ in children):
            self.modules[path] = module
        for name, parameter in module.named_parameters(recurse=False):
            self.parameters.setdefault(id(parameter), (path, name))
        for name, child in children:
            self._add(child, path if _is_wrapping(module, name) else f"{path}.{name}" if path else name)


def name_inputs(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors among the arguments of a call, named as in the graph."""
    names = _list_positional(type(module))
    for i, value in enumerate(args):
        yield from _find_tensors(value, names[i] if i < len(names) else f"[{i}]")
    for name, value in kwargs.items():
        yield from _find_tensors(value, name)


def name_outputs(value: Any) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors that a module returned; a single one is named ``output``."""
    if isinstance(value, Tensor):
        yield "output", value
    else:
        yield from _find_tensors(value, "")


def _list_positional(class_: type[nn.Module]) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = list(inspect.signature(class_.forward).parameters.values())[1:]
    except (AttributeError, TypeError, ValueError):  # scripted modules have no such signature
        return []
    return [parameter.name for parameter in parameters if parameter.kind in kinds]


def _find_tensors(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        yield path, value
    elif depth < _MAX_DEPTH:
        for name, item in _list_items(value):
            joined = f"{path}{name}" if name.startswith("[") or not path else f"{path}.{name}"
            yield from _find_tensors(item, joined, depth + 1)


def _list_items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((str(key), item) for key, item in value.items())
    elif isinstance(value, tuple | list):
        fields = getattr(value, "_fields", None)
        yield from ((fields[i] if fields else f"[{i}]", item) for i, item in enumerate(value))
    elif dataclasses.is_dataclass(value):
        yield from ((field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value))
