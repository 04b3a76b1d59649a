"""Makes a model of the object that the option `model` names, with the first arguments that work."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.arguments.argument_search import lacks_layers
from modeldiagrams.resolve.arguments.sandbox import sandboxed
from modeldiagrams.resolve.code.user_code import user_code
from modeldiagrams.resolve.skip_errors import iterate_safely
from modeldiagrams.resolve.strategies import STRATEGIES
from modeldiagrams.resolve.strategies.class_offers import leave_out_layers
from modeldiagrams.resolve.strategies.project_calls import list_factory_arguments
from modeldiagrams.resolve.strategies.requests import Built, ModelRequest
from modeldiagrams.resolve.values.construct import construct, construct_afforded
from modeldiagrams.resolve.values.locate import describe_object_at, locate
from modeldiagrams.resolve.values.option_values import make_option_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modeldiagrams.options.options import Call
    from modeldiagrams.resolve.strategies.requests import Arguments

__all__ = ["make_model", "make_variants"]

LARGE = 100_000_000
"""From this number of parameters on, a model is made on the meta device: no memory, no random numbers."""
HUGE = 500_000_000
"""From this number on, it stays there even if it can't run there: its weights would fill the memory."""


def make_variants(call: Call, device: str | None = None) -> Iterator[Built]:
    """The default model, then variants of it that run more easily.

    Args:
        call: What the author wrote.
        device: Where the model is going to run, with its weights; None for the CPU.

    Yields:
        The default model, without memory for its weights if it is large; the same with memory, if they fit; one with
        fewer layers, if its configuration is assumed anyway; and one that a function in the module of its class makes.

    Raises:
        TargetError: as `make_model`, if no variant can be made.
    """
    try:
        default = make_model(call, LARGE if device is None and not (call.measure_time or call.sample) else math.inf)
    except TargetError:
        variants = [*_smaller(call), *_by_factory(call)]
        if not variants:
            raise
        yield from variants
        return
    yield default
    if default.is_on_meta and sum(parameter.numel() for parameter in default.model.parameters()) <= HUGE:
        yield from _variants(ModelRequest(default.maker, call), [default.arguments], "with memory for its weights")
    yield from _smaller(call)
    if default.arguments.factory is None:
        yield from _by_factory(call)


def make_model(call: Call, meta_from: float) -> Built:
    """Find a model instance, or call a class or factory function for one.

    Args:
        call: What the author wrote. What it leaves open, the strategies propose.
        meta_from: A model stays on the meta device if it has more parameters.

    Returns:
        The model in eval mode, and what was assumed.

    Raises:
        TargetError: if there is no such object, it isn't a model, or making it raised.
    """
    found = locate(call.model)
    if isinstance(found, nn.Module):
        _refuse_arguments(call)
        with user_code(f"{call.model}.eval()"):
            return Built(found.eval(), found)
    if not callable(found):
        got = describe_object_at(call.model, found)
        raise TargetError(f"expected a torch.nn.Module, or a class or function that makes one, got {got}")
    request = ModelRequest(found, call)
    hollow: Built | None = None
    for arguments in _proposals(request):
        try:
            built = _build(request, arguments, meta_from)
        except TargetError as error:
            request.errors.append(error)
            if arguments.is_default:
                request.failure = request.failure or error
            continue
        may_lack_layers = request.is_open and arguments.is_default and arguments.config_class is None
        if not may_lack_layers and not request.lacks_layers:
            return built
        if not lacks_layers(built.model):
            return built
        hollow, request.lacks_layers = hollow or built, True
    if hollow is None:
        raise request.failure or request.errors[0]
    return hollow


def _proposals(request: ModelRequest) -> Iterator[Arguments]:
    """Arguments of all strategies; what one of them raises costs only that one, unless authors have to know it."""
    for strategy in STRATEGIES:
        yield from iterate_safely(strategy.propose_arguments(request))


def _build(request: ModelRequest, arguments: Arguments, meta_from: float) -> Built:
    call, maker = request.call, arguments.factory or request.maker

    def make() -> nn.Module:
        given = make_option_value([*arguments.args])
        args = [arguments.make_config(), *given] if arguments.config_class else given
        with sandboxed() if arguments.is_guessed else nullcontext():
            return construct(maker, call.model, args, make_option_value(arguments.kwargs))

    model = construct_afforded(make, meta_from, is_configured=arguments.config_class is not None)
    if arguments.factory and type(model) is not request.maker:
        raise TargetError(f"{maker.__name__} makes no {call.model}")
    with user_code(f"{call.model}.eval()"):
        model.eval()
    return Built(model, maker, arguments)


def _variants(request: ModelRequest, proposals: Iterable[Arguments], variant: str) -> Iterator[Built]:
    """Models of the same class with other arguments, except where making them fails."""
    for arguments in proposals:
        try:
            yield replace(_build(request, arguments, HUGE), variant=variant)
        except TargetError:
            continue


def _smaller(call: Call) -> Iterator[Built]:
    """The model with fewer layers, if its configuration is assumed."""
    maker = locate(call.model)
    request = ModelRequest(maker, call)
    proposed = next(_proposals(request), None) if callable(maker) and not isinstance(maker, nn.Module) else None
    if proposed is None or not request.is_configured:
        return
    try:
        small = leave_out_layers(proposed)
    except TargetError:
        return
    yield from _variants(request, [small] if small else [], "with fewer layers")


def _by_factory(call: Call) -> Iterator[Built]:
    """The model as a function in the module of its class makes it."""
    request = ModelRequest(locate(call.model), call)
    for built in islice(_variants(request, list_factory_arguments(request), ""), 1):
        yield replace(built, variant=f"as {built.maker.__name__} makes it")


def _refuse_arguments(call: Call) -> None:
    """Refuse constructor arguments for what is a model already.

    Raises:
        TargetError: if there are some.
    """
    for name in ("args", "kwargs", "config"):
        if getattr(call, name) is not None:
            raise TargetError(
                f"{call.model} is a model already, so option `{name}` has nothing to configure; "
                "leave it out, or name the model's class"
            )
