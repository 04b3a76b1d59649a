"""Make a model of the object that the option `model` names (rules 1 to 3).

Long because all ways to make a model are tried in one place.
"""

from __future__ import annotations

import inspect
import math
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.target.arguments import (
    Arguments,
    arguments_of,
    arguments_shown,
    fuller_arguments,
    other_arguments,
    refuse_arguments,
    with_fewer_layers,
)
from modeldiagrams.target.construct import construct, construct_afforded
from modeldiagrams.target.inference.conventions import required_parameters, without_which_it_fails
from modeldiagrams.target.inference.emptiness import is_hollow
from modeldiagrams.target.inference.endured import attempted, each_of
from modeldiagrams.target.inference.evidence import CallSite, call_sites
from modeldiagrams.target.inference.factories import factories_of
from modeldiagrams.target.inference.guard import guarded
from modeldiagrams.target.inference.makers import path_of
from modeldiagrams.target.inference.rules import Rule, assumed
from modeldiagrams.target.locate import described_at, locate
from modeldiagrams.target.objects import from_option
from modeldiagrams.target.user_code import user_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modeldiagrams.ir.graph import Assumption
    from modeldiagrams.options.options import Call

__all__ = ["Built", "make_model", "variants"]

LARGE = 100_000_000
"""From this number of parameters on, a model is made on the meta device: no memory, no random numbers."""
HUGE = 500_000_000
"""From this number on, it stays there even if it can't run there: its weights would fill the memory."""
_MOST_SITES = 6
"""Calls in the project that are tried."""
_MOST_FACTORIES = 3
"""Functions beside the class that are called."""


@dataclass(frozen=True)
class Built:
    """A model in eval mode."""

    model: nn.Module
    maker: Any
    """The instance, class or factory that the option `model` names."""
    assumptions: tuple[Assumption, ...] = ()
    arguments: dict[str, Any] = field(default_factory=dict)
    """What it was made with, as the option `kwargs`, and the defaults."""
    example: CallSite | None = None
    """The call in the project whose arguments it was made with."""
    others: tuple[Arguments, ...] = ()
    """Other arguments, for a model that no inputs are found for."""
    variant: str = ""
    """How it differs from the default model; empty for that one."""

    @property
    def is_on_meta(self) -> bool:
        """Whether it has no memory for its weights."""
        return any(parameter.is_meta for parameter in self.model.parameters())


def variants(call: Call, device: str | None = None) -> Iterator[Built]:
    """The default model, then variants of it that run more easily.

    Args:
        call: What the author wrote.
        device: Where the model is going to run, with its weights; None for the CPU.

    Yields:
        The default model, without memory for its weights if it is large; the same with memory, if they fit; one with
        fewer layers, if its configuration is assumed anyway; and one that a function beside its class makes.

    Raises:
        TargetError: as `make_model`; if only the default configuration is at fault, there is one with fewer layers.
    """
    try:
        default = make_model(call, LARGE if device is None and not call.measure_time else math.inf)
    except TargetError:
        small = _variant(call, small=True)
        if small is None:
            raise
        yield small
        return
    yield default
    if default.is_on_meta and sum(parameter.numel() for parameter in default.model.parameters()) <= HUGE:
        yield from filter(None, [_variant(call, small=False)])
    yield from filter(None, [_variant(call, small=True)])
    yield from _with_other_modules(default, call)
    offered = _as_offered(default.maker, call, HUGE)
    if offered is not None:
        yield replace(offered, variant=f"as {offered.maker.__name__} makes it")


def _with_other_modules(default: Built, call: Call) -> Iterator[Built]:
    """Those whose arguments have other modules that were made up."""
    for arguments in default.others:
        try:
            built = _built(default.maker, call, arguments, HUGE)
        except TargetError:
            continue
        yield replace(built, variant="with another module as an argument")


def _variant(call: Call, *, small: bool) -> Built | None:
    try:
        built = make_model(call, HUGE, small=small)
    except TargetError:
        return None  # the default one was made, or raised the error to report
    return replace(built, variant="with fewer layers" if small else "with memory for its weights")


def make_model(call: Call, meta_from: float, *, small: bool = False) -> Built:
    """Find a model instance, or call a class or factory function for one.

    A class that is made from a configuration (a Hugging Face ``config_class``, or a required parameter annotated with
    a class whose fields have defaults) is called with one: made from the option `config`, or the default one if the
    author gives no constructor arguments either. Other classes and functions are called with `args` and `kwargs`;
    without these, required parameters get values that are usual for their names.

    Args:
        call: What the author wrote.
        meta_from: A model stays on the meta device if it has more parameters.
        small: Whether an assumed configuration has fewer layers than by default.

    Returns:
        The model in eval mode, and what was assumed.

    Raises:
        TargetError: if there is no such object, it isn't a model, or making it raised; with `small`, if there is no
            assumed configuration, or nothing to leave out of it.
    """
    found = locate(call.model)
    if isinstance(found, nn.Module):
        refuse_arguments(call)
        model, arguments = found, Arguments()
    elif callable(found):
        shown = None if small else _as_shown(found, call, meta_from)
        if shown is not None:
            return shown
        arguments = arguments_of(found, call)
        arguments = with_fewer_layers(arguments, call) if small else arguments
        try:
            return _built(found, call, arguments, meta_from)
        except TargetError:
            offered = None if small else _as_offered(found, call, meta_from)
            if offered is None:
                raise
            return offered
    else:
        raise TargetError(
            f"expected a torch.nn.Module, or a class or function that makes one, got {described_at(call.model, found)}"
        )
    return _in_eval_mode(model, found, call, arguments)


def _built(found: Callable[..., Any], call: Call, arguments: Arguments, meta_from: float) -> Built:
    model, arguments = _made(found, call, arguments, meta_from)
    return _in_eval_mode(model, found, call, arguments)


def _in_eval_mode(model: nn.Module, found: Any, call: Call, arguments: Arguments) -> Built:
    with user_code(f"{call.model}.eval()"):
        model.eval()
    values = arguments.values_by_name(found)
    return Built(model, found, arguments.assumptions, values, others=arguments.others)


def _is_open(call: Call) -> bool:
    """Whether the author says nothing of how the model is made."""
    return all(given is None for given in (call.args, call.kwargs, call.config))


def _as_shown(found: Callable[..., Any], call: Call, meta_from: float) -> Built | None:
    """The model as its project makes it, or offers it, if it requires arguments and none are given."""
    if not _is_open(call) or not required_parameters(found):
        return None
    sites = [*islice(each_of(call_sites(found, parts=True)), _MOST_SITES)]
    return (
        _as_in_project(found, call, meta_from, [site for site in sites if site.is_whole])
        or _as_offered(found, call, meta_from)
        or _as_in_project(found, call, meta_from, [site for site in sites if not site.is_whole])
    )


def _as_offered(found: Any, call: Call, meta_from: float) -> Built | None:
    """The model as a function beside its class makes it; None if there is none, or the author says how to make it.

    Args:
        found: What the author names.
        call: What the author wrote.
        meta_from: A model stays on the meta device if it has more parameters.
    """
    factories = factories_of(found) if inspect.isclass(found) and _is_open(call) else ()
    for factory in islice(each_of(factories), _MOST_FACTORIES):
        path = path_of(factory)
        # weights that are fetched by default make no difference to the diagram
        kwargs = without_which_it_fails(factory, {}, "")
        rule = Rule.CONVENTIONS.assumption(f"made by {factory.__name__}, a function beside {found.__name__}")
        values = (assumed(f"kwargs.{name}", value, "no weights are fetched") for name, value in kwargs.items())
        maker = assumed("model", path, f"it makes a {found.__name__} without any argument")
        arguments = Arguments(kwargs=kwargs, assumptions=(rule, maker, *values), is_last=True, is_made_up=True)
        try:
            model, arguments = _made(factory, msgspec.structs.replace(call, model=path), arguments, meta_from)
            model.eval()
        except TargetError:
            continue
        if type(model) is found:
            return Built(model, factory, arguments.assumptions, arguments.values_by_name(factory))
    return None


def _as_in_project(found: Callable[..., Any], call: Call, meta_from: float, sites: Iterable[CallSite]) -> Built | None:
    """The model as the project itself makes it somewhere."""
    for site in sites:
        arguments = attempted("a call in the project", [], partial(arguments_shown, found, site))
        if arguments is None:
            continue
        try:
            model, arguments = _made(found, call, arguments, meta_from)
            with user_code(f"{call.model}.eval()"):
                model.eval()
        except TargetError:
            continue
        return Built(model, found, arguments.assumptions, arguments.values_by_name(found), site)
    return None


def _made(found: Callable[..., Any], call: Call, arguments: Arguments, meta_from: float) -> tuple[nn.Module, Arguments]:
    """The model, and what it was made with: also what the default call turned out to need."""
    try:
        model = construct_afforded(
            partial(_construct, found, call, arguments), meta_from, is_configured=arguments.config_class is not None
        )
    except TargetError as error:
        if not _is_open(call) or arguments.is_last:
            raise
        for other in other_arguments(found, arguments, error):
            try:
                return _made(found, call, other, meta_from)
            except TargetError:
                continue
        raise
    if _is_open(call) and not arguments.is_last and arguments.config_class is None and is_hollow(model):
        return _made_fuller(found, call, arguments, meta_from) or (model, arguments)
    return model, arguments


def _made_fuller(
    found: Callable[..., Any], call: Call, arguments: Arguments, meta_from: float
) -> tuple[nn.Module, Arguments] | None:
    """A model that has the layers which are lacking with conventional arguments, or with defaults of None."""
    for other in fuller_arguments(found, arguments):
        try:
            made = _made(found, call, other, meta_from)
        except TargetError:
            continue
        if not is_hollow(made[0]):
            return made
    return None


def _construct(found: Callable[..., Any], call: Call, arguments: Arguments) -> nn.Module:
    given = from_option([*arguments.args])
    args = [arguments.config(), *given] if arguments.config_class else given
    with guarded() if arguments.is_made_up else nullcontext():
        return construct(found, call.model, args, from_option(arguments.kwargs))
