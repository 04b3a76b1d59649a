"""Make a model of the object that the option `model` names."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.graph import Assumption
from modeldiagrams.target.locate import did_you_mean, locate
from modeldiagrams.target.usercode import user_code

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.options import Options

__all__ = ["call_problem", "make_model"]


def make_model(options: Options) -> tuple[nn.Module, tuple[Assumption, ...]]:
    """Find a model instance, or call a class or factory function for one.

    A class with a Hugging Face ``config_class`` is called with a configuration object: one made from the option
    `config`, or the default one if the author gives no constructor arguments either. Other classes and functions are
    called with `args` and `kwargs`, so with nothing if there are none.

    Args:
        options: What the author wrote.

    Returns:
        The model in eval mode, and what was assumed.

    Raises:
        TargetError: if there is no such object, it isn't a model, or making it raised.
    """
    found = locate(options.model)
    assumptions: tuple[Assumption, ...] = ()
    if isinstance(found, nn.Module):
        _refuse_arguments(options)
        model = found
    elif callable(found):
        args, assumptions = _constructor_args(found, options)
        model = _construct(found, options, args)
    else:
        raise TargetError(
            f"expected a torch.nn.Module, or a class or function that makes one, got {_what(found, options)}"
        )
    with user_code(f"{options.model}.eval()"):
        model.eval()
    return model, assumptions


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


def _constructor_args(found: Any, options: Options) -> tuple[tuple[Any, ...], tuple[Assumption, ...]]:
    """The positional arguments to call a class or function with."""
    args = tuple(options.args or ())
    config_class = getattr(found, "config_class", None)
    if options.config is not None:
        if not callable(config_class):
            raise TargetError(
                f"option 'config' is for classes with a Hugging Face `config_class`, and {options.model} has none; "
                "write constructor arguments with the options `args` and `kwargs`"
            )
        return (_config(config_class, options.config), *args), ()
    if not callable(config_class) or args or options.kwargs:
        return args, ()
    assumed = Assumption(subject="config", value=f"{config_class.__name__}()", reason="no option `config` is given")
    return (_config(config_class, {}),), (assumed,)


def _config(config_class: Callable[..., Any], values: dict[str, Any]) -> Any:
    name = getattr(config_class, "__name__", "config_class")
    with user_code(f"making a {name} from the option `config`" if values else f"making a default {name}"):
        return config_class(**values)


def _construct(found: Callable[..., Any], options: Options, args: tuple[Any, ...]) -> nn.Module:
    kwargs = options.kwargs or {}
    problem = call_problem(found, args, kwargs)
    if problem:
        raise TargetError(
            f"{options.model} can't be called like this: {problem}; write its arguments with the options `args`, "
            "e.g. `args: [64, 10]`, and `kwargs`, e.g. `kwargs: {depth: 4}`"
        )
    with user_code(f"calling {options.model}"):
        model = found(*args, **kwargs)
    if not isinstance(model, nn.Module):
        raise TargetError(f"expected {options.model} to make a torch.nn.Module, got an object of {type(model)}")
    return model


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
