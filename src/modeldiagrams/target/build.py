"""Make a model of the object that the option `model` names (rules 1 to 3)."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.target.conventions import configuration_class, conventional_arguments, required_parameters
from modeldiagrams.target.locate import did_you_mean, locate
from modeldiagrams.target.rules import Rule, assumed
from modeldiagrams.target.small import small_values
from modeldiagrams.target.usercode import user_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.graph import Assumption
    from modeldiagrams.options import Options

__all__ = ["Built", "call_problem", "make_model", "variants"]

LARGE = 100_000_000
"""Parameters from which on a configured model stays on the meta device: no memory, no random numbers."""
HUGE = 500_000_000
"""Parameters from which on it stays there even if it can't be run there: its weights would fill the memory."""


@dataclass(frozen=True)
class Built:
    """A model in eval mode."""

    model: nn.Module
    maker: Any
    """The instance, class or factory that the option `model` names."""
    assumptions: tuple[Assumption, ...] = ()
    variant: str = ""
    """What makes it another one than the model as it is by default."""

    @property
    def is_on_meta(self) -> bool:
        """Whether it has no memory for its weights."""
        return any(parameter.is_meta for parameter in self.model.parameters())


@dataclass(frozen=True)
class _Call:
    """How a class or factory is called."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] | None = None
    config_class: Callable[..., Any] | None = None
    """Makes the configuration that goes first."""
    values: dict[str, Any] = field(default_factory=dict)
    """The configuration's."""
    assumptions: tuple[Assumption, ...] = ()

    def config(self) -> Any:
        """A new one for every use, because models write into it."""
        name = getattr(self.config_class, "__name__", "config_class")
        with user_code(f"making a {name} from the option `config`" if self.values else f"making a default {name}"):
            return self.config_class(**self.values) if self.config_class else None


def variants(options: Options) -> Iterator[Built]:
    """The model, and then, should no pass get through it, the same as one that is easier to run.

    Args:
        options: What the author wrote.

    Yields:
        The model as it is by default, without memory if it is large; with memory, if it is not too large for that; and
        with fewer layers, where its configuration is assumed anyway.

    Raises:
        TargetError: as `make_model`; if only the default configuration is at fault, there is one with fewer layers.
    """
    try:
        default = make_model(options, LARGE)
    except TargetError:
        small = _variant(options, small=True)
        if small is None:
            raise
        yield small
        return
    yield default
    if default.is_on_meta and sum(parameter.numel() for parameter in default.model.parameters()) <= HUGE:
        yield from filter(None, [_variant(options, small=False)])
    yield from filter(None, [_variant(options, small=True)])


def _variant(options: Options, *, small: bool) -> Built | None:
    try:
        built = make_model(options, HUGE, small=small)
    except TargetError:
        return None  # the default one is there, or has told what is wrong
    return replace(built, variant="with fewer layers" if small else "with memory for its weights")


def make_model(options: Options, meta_from: int, *, small: bool = False) -> Built:
    """Find a model instance, or call a class or factory function for one.

    A class that is made from a configuration (a Hugging Face ``config_class``, or a required parameter annotated with
    a class whose fields have defaults) is called with one: made from the option `config`, or the default one if the
    author gives no constructor arguments either. Other classes and functions are called with `args` and `kwargs`;
    without these, required parameters take the values that their names tell.

    Args:
        options: What the author wrote.
        meta_from: Parameters above which a model that is made from a configuration stays on the meta device.
        small: Whether an assumed configuration has fewer layers than by default.

    Returns:
        The model in eval mode, and what was assumed.

    Raises:
        TargetError: if there is no such object, it isn't a model, or making it raised; with `small`, if there is no
            assumed configuration, or nothing to leave out of it.
    """
    found = locate(options.model)
    assumptions: tuple[Assumption, ...] = ()
    if isinstance(found, nn.Module):
        _refuse_arguments(options)
        model = found
    elif callable(found):
        call = _call(found, options)
        call = _small(call, options) if small else call
        weightless = _weightless(found, options, call, meta_from) if call.config_class else None
        model, assumptions = weightless or _construct(found, options, call), call.assumptions
    else:
        raise TargetError(
            f"expected a torch.nn.Module, or a class or function that makes one, got {_what(found, options)}"
        )
    with user_code(f"{options.model}.eval()"):
        model.eval()
    return Built(model, found, assumptions)


def call_problem(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Why a function can't be called this way; None if it can, or if its parameters are not known."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        unknown = [name for name in kwargs if name not in signature.parameters]
        hint = did_you_mean(unknown[0], signature.parameters) if unknown else ""
        return f"{error}{hint} (its parameters: {', '.join(signature.parameters) or 'none'})"
    return None


def _refuse_arguments(options: Options) -> None:
    for name in ("args", "kwargs", "config"):
        if getattr(options, name) is not None:
            raise TargetError(
                f"{options.model} is a model already, so option {name!r} has nothing to configure; "
                "leave it out, or name the model's class"
            )


def _call(found: Callable[..., Any], options: Options) -> _Call:
    """The arguments to call a class or function with, by the first rule that has some."""
    args, kwargs = tuple(options.args or ()), options.kwargs or {}
    config_class = getattr(found, "config_class", None)
    by_convention = None if callable(config_class) else configuration_class(found)
    maker = config_class if callable(config_class) else by_convention
    if options.config is not None:
        if maker is None:
            raise TargetError(
                f"option 'config' is for classes with a Hugging Face `config_class` or a configuration as their one "
                f"required parameter, and {options.model} has neither; write constructor arguments with the options "
                "`args` and `kwargs`"
            )
        return _Call(args, kwargs, maker, options.config)
    if args or kwargs:
        return _Call(args, kwargs)
    if maker is not None:
        rule = Rule.CONVENTIONS if by_convention else Rule.OFFERED
        told = rule.assumption(f"built from a default {maker.__name__}")
        default = assumed("config", {}, f"a default {maker.__name__}, because no option `config` is given")
        return _Call(config_class=maker, assumptions=(told, default))
    return _conventional(found)


def _conventional(found: Callable[..., Any]) -> _Call:
    """A call by conventions; one without arguments where there are none, so that its error can tell what is missing."""
    arguments = conventional_arguments(found)
    if not arguments:
        return _Call()
    told = Rule.CONVENTIONS.assumption("constructor arguments by the names of required parameters")
    values = (assumed(f"kwargs.{name}", value, "a usual value for this name") for name, value in arguments.items())
    return _Call(kwargs=arguments, assumptions=(told, *values))


def _small(call: _Call, options: Options) -> _Call:
    """The same with fewer layers."""
    values = small_values(call.config()) if call.config_class and options.config is None else {}
    if not values:
        raise TargetError(f"{options.model} has no default configuration that layers can be left out of")
    told, _ = call.assumptions
    small = assumed("config", values, "fewer layers than by default, because no pass got through a model of full size")
    return replace(call, values=values, assumptions=(told, small))


def _construct(found: Callable[..., Any], options: Options, call: _Call) -> nn.Module:
    kwargs = call.kwargs or {}
    args = (call.config(), *call.args) if call.config_class else call.args
    problem = call_problem(found, args, kwargs)
    if problem:
        raise TargetError(
            f"{options.model} can't be called like this: {problem}; write its arguments with the options `args`, "
            f"e.g. `args: [64, 10]`, and `kwargs`, e.g. {_example(found)}"
        )
    with user_code(f"calling {options.model}"):
        model = found(*args, **kwargs)
    if not isinstance(model, nn.Module):
        raise TargetError(f"expected {options.model} to make a torch.nn.Module, got an object of {type(model)}")
    return model


def _weightless(found: Callable[..., Any], options: Options, call: _Call, meta_from: int) -> nn.Module | None:
    """The model without memory for its weights, if it is a large one."""
    try:
        with torch.device("meta"):
            model = _construct(found, options, call)
    except TargetError as error:
        if "meta" not in str(error).replace(options.model, ""):
            raise  # it would fail with weights, too, after it has filled the memory with them
        return None
    return model if sum(parameter.numel() for parameter in model.parameters()) > meta_from else None


def _example(found: Callable[..., Any]) -> str:
    names = [parameter.name for parameter in required_parameters(found)][:3]
    return "`kwargs: {" + ", ".join(f"{name}: 4" for name in names or ["depth"]) + "}`"


def _what(found: Any, options: Options) -> str:
    """An object that is no model, in words; for a module with the models it has."""
    if not inspect.ismodule(found):
        return f"{options.model}, an object of {type(found)}"
    models = sorted(
        name
        for name, value in vars(found).items()
        if inspect.isclass(value) and issubclass(value, nn.Module) and not name.startswith("_")
    )
    return f"the module {options.model}" + (f"; did you mean {options.model}.{models[0]}?" if models else "")
