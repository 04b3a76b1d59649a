"""States that a model's own methods make, as ``init_hidden(batch_size)`` does: better than guesses."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.resolve.code.forward import parameters_of
from modeldiagrams.resolve.code.source import path_of
from modeldiagrams.resolve.code.user_code import seeded, silenced
from modeldiagrams.resolve.inputs.probe import as_it_was
from modeldiagrams.resolve.values.entries import entry_of, is_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import nn

__all__ = ["own_states"]

_MAKES = re.compile(r"_?(init(ial)?(ize)?|begin|empty|get|new|make|create|reset|zeros?|default)_?\w*")
_STATE = re.compile(r"\w*(state|hidden|carry|mem|memory|cache|hx|initial|h0)s?")
_COUNT = re.compile(r"\w*(batch|bsz|bs|b|n|size|num\w*)")


def own_states(model: nn.Module, batch: int) -> Iterator[Any]:
    """Entries of what the methods of a model make that need to know no more than the number of rows."""
    for name, method in inspect.getmembers(type(model), inspect.isfunction):
        if method.__module__.startswith("torch.") or not (_MAKES.fullmatch(name) and _STATE.fullmatch(name)):
            continue
        arguments = _arguments(getattr(model, name), batch)
        if arguments is not None:
            yield from _made(model, getattr(model, name), arguments)


def _arguments(method: Callable[..., Any], batch: int) -> dict[str, Any] | None:
    required = [p.name for p in parameters_of(method).values() if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    known = {name: batch if _COUNT.fullmatch(name) else "cpu" for name in required}
    return known if all(_COUNT.fullmatch(name) or name == "device" for name in required) else None


def _made(model: nn.Module, method: Callable[..., Any], arguments: dict[str, Any]) -> Iterator[Any]:
    held = (*model.parameters(), *model.buffers())  # ``reset_memory`` may write them
    with seeded(), torch.no_grad(), silenced():
        try:
            with as_it_was(model, (), held):
                made = method(**arguments)
        except (Exception, SystemExit):  # noqa: BLE001  (whatever it raises)
            return
    entry = _entry(made)
    if made is not None and is_plain(entry):
        yield entry


def _entry(made: Any) -> Any:
    """A named tuple as what it is, because its fields may be read by name."""
    fields = getattr(made, "_asdict", None)
    if isinstance(made, tuple) and fields:
        return {"_target_": path_of(type(made)), **{name: _entry(value) for name, value in fields().items()}}
    if isinstance(made, Mapping):
        return {str(key): _entry(value) for key, value in made.items()}
    return [_entry(item) for item in made] if isinstance(made, list | tuple) and made else entry_of(made)
