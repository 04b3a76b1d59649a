"""Other constructor arguments for a model in which a layer turned out not to fit; see `misfits`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.made_up_modules import WITH
from modeldiagrams.target.inference.unknown import Number, plain, slots_of
from modeldiagrams.target.locate import locate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import nn

    from modeldiagrams.target.inference.constructor import Search
    from modeldiagrams.target.inference.misfits import Misfit
    from modeldiagrams.target.inference.slots import Slot

__all__ = ["fitted", "is_about"]

_ROUNDS = 4
_MOST_CALLS = 25_000
"""Of PyTorch, in all runs."""
_MOST_CLASSES = 4


def is_about(search: Search, misfit: Misfit) -> bool:
    """Whether an argument is the size of a layer itself, or its class: then inputs are hardly to blame."""
    held = _held(search.model, misfit)
    is_size = isinstance(held, Number) and not held.is_derived and any(True for _ in _sizes_for(search, misfit))
    innermost = replace(misfit, layers=misfit.layers[:1])
    return is_size or (not misfit.got and any(True for _ in _makers_of(search, innermost)))


def fitted(search: Search, misfit: Misfit) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Arguments, and reasons that differ: as many features as come to a layer, or one of another class."""
    path = misfit.layers[0][0]
    search.calls_left = _MOST_CALLS
    for slot, size in _sizes_for(search, misfit):
        before, slot.one_of = slot.one_of, (size,)
        model = search.searched(rounds=_ROUNDS)
        if model is not None and _last(plain(_held(model, misfit))) == misfit.got:
            search.model = model
            yield search.result().kwargs, {slot.path.partition(".")[0]: f"so many features come to {path}"}
            return
        slot.one_of = before
    for slot in _makers_of(search, misfit):
        chosen = slot.choice
        for choice in range(chosen + 1, min(len(slot.options()), chosen + _MOST_CLASSES)):
            slot.choice = choice
            if search.can_be_made():
                yield search.result().kwargs, {}
        slot.choice = chosen


def _sizes_for(search: Search, misfit: Misfit) -> Iterator[tuple[Slot, int]]:
    """Arguments that a layer's size is made of, with what they have to be if nothing else of it changes."""
    held = _held(search.model, misfit)
    size = _last(plain(held))
    for slot in slots_of(held):
        now = plain(slot.option()) if slot.kind == "number" else None
        if type(now) is int and type(size) is int and now > 0:
            if now * misfit.got % size == 0:
                yield slot, now * misfit.got // size
            if now + misfit.got - size > 0:
                yield slot, now + misfit.got - size


def _makers_of(search: Search, misfit: Misfit) -> Iterator[Slot]:
    """Arguments that are the class of a layer or of a module around it."""
    for _, class_ in misfit.layers:
        for slot in search.every():
            if slot.kind in ("class", "made") and _class_in(slot.option()) is class_:
                yield slot


def _class_in(option: dict[str, Any]) -> Any:
    """The class that an option is, or makes an object of."""
    if option.get("_target_") == WITH:
        return _class_in(option["_args_"][0])
    return locate(option.get("_object_") or option["_target_"])


def _held(model: nn.Module, misfit: Misfit) -> Any:
    """What the layer of the same path has as its size; None where it has none."""
    try:
        return getattr(model.get_submodule(misfit.layers[0][0]), misfit.attribute, None) if misfit.attribute else None
    except AttributeError:
        return None


def _last(value: Any) -> Any:
    return value[-1] if isinstance(value, list | tuple) and value else value
