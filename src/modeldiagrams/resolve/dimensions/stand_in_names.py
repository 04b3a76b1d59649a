"""Names by position and dtype alone, until `naming` and `moved_inputs` are there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from modeldiagrams.tracer.recording.module_calls import argument_names, find_tensor_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from modeldiagrams.ir.sizes import NamedBy

__all__ = ["InputMover", "InputNames", "name_inputs"]

_PAIR = ("B", "C")
_BY_RANK = {2: ["B", "T"], 3: ["B", "T", 0], 4: ["B", 0, "H", "W"], 5: ["B", 0, "T", "H", "W"]}


@dataclass(frozen=True)
class InputNames:
    """What is named."""

    dims: dict[str, tuple[str | int, ...]]
    named_by: dict[str, NamedBy] = field(default_factory=dict)
    meanings: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)
    letters: dict[str, str] = field(default_factory=dict)


def _tensors(function: Any, args: Any, kwargs: Any) -> list[tuple[str, Tensor]]:
    return find_tensor_arguments(argument_names(function), args, kwargs, into_objects=True)


def name_inputs(  # noqa: PLR0913, PLR0917
    model: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dims: Mapping[str, Any] | None,
    inputs_from: str | None,
    entry: Callable[..., Any] | None = None,
) -> InputNames:
    """Name the sizes."""
    del inputs_from, entry
    found: dict[str, tuple[str | int, ...]] = {}
    sizes: dict[str, int] = {}
    dims = dims or {}
    for name, tensor in _tensors(model, args, kwargs):
        words: Any = dims.get(name) or _BY_RANK.get(tensor.dim(), ["B"] if tensor.dim() == 1 else [0] * tensor.dim())
        if len(tensor.shape) == len(_PAIR) and tensor.is_floating_point() and name not in dims:
            words = ["B", 0]
        named: list[str | int] = []
        for word, size in zip(words, tensor.shape, strict=True):
            key: str | int = word
            while isinstance(key, str) and sizes.setdefault(key, size) != size:
                key += "′"
            named.append(key if isinstance(key, str) else size)
        found[name] = tuple(named)
    letters = {name: value for name, value in dims.items() if isinstance(value, str)}
    return InputNames(found, dict.fromkeys(sizes, "author" if dims else "convention"), {}, {}, letters)


class InputMover:
    """Makes the same inputs at other sizes."""

    def __init__(
        self,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        names: InputNames,
        inputs_from: str | None,
        function: Any,
    ) -> None:
        del inputs_from
        self._given = args, dict(kwargs)
        self._dims = {id(tensor): names.dims[name] for name, tensor in _tensors(function, args, self._given[1])}

    def move(self, sizes: Mapping[str, int]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The inputs."""

        def moved(tensor: Tensor) -> Tensor:
            for i, name in enumerate(self._dims.get(id(tensor), ())):
                if isinstance(name, str) and name in sizes:
                    n = sizes[name]
                    tensor = torch.cat([tensor] * -(-n // tensor.shape[i]), i).narrow(i, 0, n).contiguous()
            return tensor

        result: Any = pytree.tree_map_only(Tensor, moved, self._given)

        return result  # type: ignore[no-any-return]

    def explain_fixed(self) -> dict[str, str]:
        """None."""
        return {}
