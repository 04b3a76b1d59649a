"""Answers requests for an image: calls a function of the author's with a model, its inputs and its outputs."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.errors import TargetError
from modeldiagrams.ir.pictures import as_picture
from modeldiagrams.resolve import InputsError, resolve
from modeldiagrams.resolve.code.user_code import user_code
from modeldiagrams.resolve.values.device import move_to_device
from modeldiagrams.resolve.values.locate import locate
from modeldiagrams.worker.dependencies import dependencies
from modeldiagrams.worker.origins import libraries
from modeldiagrams.worker.protocol import Traced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import nn

    from modeldiagrams.resolve import Target
    from modeldiagrams.worker.protocol import Trace

__all__ = ["image_made"]


def image_made(request: Trace, function: str) -> Traced:
    """What a function makes of a real pass, which has values where a traced one often has none.

    Raises:
        TargetError: if there is no such function, it or the model raises, or what it returns is no image.
    """
    call = request.call
    os.environ.setdefault("MPLBACKEND", "agg")  # Matplotlib opens no window
    show = locate(function)
    if not callable(show):
        raise TargetError(f"expected a function of model, inputs and outputs, got {type(show).__name__}")
    target = resolve(call, request.limits.device)
    model, args, kwargs = _with_values(target, request)
    with torch.no_grad():
        with user_code(f"calling {call.model}"):
            outputs = model(*args, **kwargs)
        with user_code(f"calling {function}"):
            content = as_picture(show(model, _by_name(model, args, kwargs), outputs))
    classes = {type(module) for module in model.modules()}
    named = [call.model, call.inputs_from or "", function]
    sources = dependencies(classes, named, target.sources)
    return Traced(graph=b"", image=content, sources=sources, libraries=libraries(classes, named, sources))


def _with_values(target: Target, request: Trace) -> tuple[nn.Module, tuple[Any, ...], dict[str, Any]]:
    """The model and its inputs on the requested device."""
    name, device = request.call.model, request.limits.device
    if target.note is not None:
        raise InputsError(target.note)
    if any(parameter.is_meta for parameter in target.model.parameters()):
        raise TargetError(f"{name} is too large to have values here; ask for a smaller one with `kwargs` or `config`")
    args, kwargs = target.args, target.kwargs
    if device:
        args, kwargs = move_to_device(device, target.model, (args, kwargs), name)
    return target.model, args, kwargs


def _by_name(model: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a forward, each by the name of its parameter."""
    signature = inspect.signature(model.forward)
    found = dict(signature.bind(*args, **kwargs).arguments)
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            found |= found.pop(name, {})
    return found
