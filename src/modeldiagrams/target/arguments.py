"""What a class or factory is called with: what the author wrote, or else by conventions (rules 1 to 3).

Long because all rules for arguments are tried in one place.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, is_dataclass, replace
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from modeldiagrams.errors import TargetError
from modeldiagrams.target.forward import parameters_of
from modeldiagrams.target.inference.constructor import Solved, solved_arguments
from modeldiagrams.target.inference.conventions import (
    configuration_class,
    conventional_arguments,
    required_parameters,
    unset_fields,
    without_which_it_fails,
)
from modeldiagrams.target.inference.endured import each_of
from modeldiagrams.target.inference.members import constants_for
from modeldiagrams.target.inference.names import PROJECT, project_value
from modeldiagrams.target.inference.rules import Rule, assumed
from modeldiagrams.target.objects import from_option
from modeldiagrams.target.reduced_config import missing_values, small_values
from modeldiagrams.target.user_code import user_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.ir.graph import Assumption
    from modeldiagrams.options.options import Call
    from modeldiagrams.target.inference.evidence import CallSite

__all__ = [
    "Arguments",
    "arguments_of",
    "arguments_shown",
    "fuller_arguments",
    "other_arguments",
    "refuse_arguments",
    "with_fewer_layers",
]

_FEWER_CALLS = 50_000
"""Of PyTorch, for what a call in the project leaves open."""


@dataclass(frozen=True)
class Arguments:
    """How a class or factory is called."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    config_class: Callable[..., Any] | None = None
    """Makes the configuration, the first argument."""
    values: dict[str, Any] = field(default_factory=dict)
    """Values for the configuration."""
    assumptions: tuple[Assumption, ...] = ()
    is_last: bool = False
    """Whether there are no others to try."""
    is_made_up: bool = False
    """Whether files could get names that nobody chose."""
    others: tuple[Arguments, ...] = ()
    """Those with other modules that are made up, for a model that no inputs are found for."""

    def values_by_name(self, maker: Callable[..., Any]) -> dict[str, Any]:
        """Values by name, also those that nobody gave."""
        defaults = {name: p.default for name, p in parameters_of(maker).items() if p.default is not p.empty}
        return {**defaults, **dict(zip(parameters_of(maker), self.args, strict=False)), **self.kwargs, **self.values}

    def config(self) -> Any:
        """A new configuration for every use, because models write into it."""
        name = getattr(self.config_class, "__name__", "config_class")
        with user_code(f"making a {name} from the option `config`" if self.values else f"making a default {name}"):
            return self.config_class(**from_option(self.values)) if self.config_class else None


def arguments_of(found: Callable[..., Any], call: Call) -> Arguments:
    """The arguments to call a class or function with, by the first rule that has some."""
    args, kwargs = tuple(call.args or ()), call.kwargs or {}
    config_class = getattr(found, "config_class", None)
    if call.config is None and callable(config_class) and required_parameters(config_class):
        config_class = None  # there is no default one
    by_convention = None if callable(config_class) else configuration_class(found)
    maker = config_class if callable(config_class) else by_convention
    if call.config is not None:
        maker = maker or _optional_configuration(found)
        if maker is None:
            raise TargetError(
                "option `config` is for classes with a Hugging Face `config_class`, or whose first parameter is "
                "annotated with a dataclass, or whose one required parameter with a configuration class, and "
                f"{call.model} has none of these; write constructor arguments with the options `args` and `kwargs`"
            )
        return Arguments(args, kwargs, maker, call.config)
    if args or kwargs:
        return Arguments(args, kwargs)
    if maker is not None:
        return _configured(maker, by_convention=by_convention is not None)
    return _conventional(found)


def _optional_configuration(found: Callable[..., Any]) -> type | None:
    """The dataclass that annotates a first parameter with a default: ``cfg: Config | None = None``."""
    first = next(iter(parameters_of(found).values()), None)
    if first is None or first.kind is first.KEYWORD_ONLY:
        return None
    try:
        hint = get_type_hints(found.__init__ if inspect.isclass(found) else found).get(first.name)
    except Exception:  # noqa: BLE001  whatever the text of an annotation raises
        return None
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    classes = [one for one in choices if inspect.isclass(one) and is_dataclass(one)]
    return classes[0] if classes else None


def _configured(maker: Callable[..., Any], *, by_convention: bool) -> Arguments:
    """A call with a default configuration, and with what no pass can do without."""
    rule = Rule.CONVENTIONS if by_convention else Rule.CLASS
    arguments = Arguments(config_class=maker)
    values = {} if by_convention else _missing(arguments)
    default = f"a default {maker.__name__}"
    why = f"{maker.__name__} has None by default" if values else f"{default}, because no option `config` is given"
    said = (rule.assumption(f"built from {default}"), assumed("config", values, why))
    return replace(arguments, values=values, assumptions=said)


def _missing(arguments: Arguments) -> dict[str, Any]:
    try:
        return missing_values(arguments.config())
    except TargetError:
        return {}  # making the model raises it again


def _conventional(found: Callable[..., Any]) -> Arguments:
    """A call by conventions; without arguments where none apply: the error then names what is missing."""
    usual = conventional_arguments(found)
    if not usual:
        return Arguments()
    rule = Rule.CONVENTIONS.assumption("constructor arguments by the names of required parameters")
    values = (assumed(f"kwargs.{name}", value, _reason_of_name(name, value)) for name, value in usual.items())
    return Arguments(kwargs=usual, assumptions=(rule, *values))


def _reason_of_name(name: str, value: Any) -> str:
    return PROJECT if project_value("arguments", name) == value else "a usual value for this name"


def with_fewer_layers(arguments: Arguments, call: Call) -> Arguments:
    """The same with fewer layers."""
    values = small_values(arguments.config()) if arguments.config_class and call.config is None else {}
    if not values:
        raise TargetError(f"{call.model} has no default configuration that layers can be left out of")
    built_from, _ = arguments.assumptions
    values = _merged(arguments.values, values)
    small = assumed("config", values, "fewer layers than by default, because no pass got through a model of full size")
    return replace(arguments, values=values, assumptions=(built_from, small))


def _merged(values: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Both, also in configurations inside."""
    inside = {name: _merged(values[name], more[name]) for name in values.keys() & more if isinstance(more[name], dict)}
    return {**values, **more, **inside}


def other_arguments(found: Callable[..., Any], arguments: Arguments, error: TargetError) -> Iterator[Arguments]:
    """Other arguments after a call with conventional ones failed."""
    if arguments.config_class is not None:
        yield from _other_fields(arguments, str(error))
        return
    more = without_which_it_fails(found, arguments.kwargs, str(error))
    if more:
        yield _with(arguments, more)
    known = {p.name: project_value("arguments", p.name) for p in required_parameters(found)}
    given = {name: value for name, value in known.items() if value is not None}
    beside = {name: value for name, value in constants_for(found).items() if name not in given}
    reasons = {**dict.fromkeys(given, PROJECT), **dict.fromkeys(beside, "the constant of this name beside it")}
    for known_ones in ({**given, **beside}, given) if beside else (given,):
        yield from each_of(_solved(found, str(error), known_ones, reasons))


def fuller_arguments(found: Callable[..., Any], arguments: Arguments) -> Iterator[Arguments]:
    """Others by how they are used, after a model without layers was made: by names, or with defaults of None."""
    open_ones = tuple(name for name, p in parameters_of(found).items() if p.default is None)
    if arguments.kwargs or (open_ones and not required_parameters(found)):
        yield from each_of(_solved(found, "", {}, {}, names=() if arguments.kwargs else open_ones))


def _other_fields(arguments: Arguments, error: str) -> Iterator[Arguments]:
    """Values for fields of a configuration whose defaults say that they are set elsewhere, and that an error names."""
    values = {} if arguments.values else unset_fields(arguments.config_class, error)
    if values:
        said = assumed("config", values, "making the model failed with the default")
        yield replace(arguments, values=values, assumptions=(*arguments.assumptions[:1], said), is_last=True)


def _solved(
    found: Callable[..., Any],
    error: str,
    given: dict[str, Any],
    reasons: dict[str, str],
    names: tuple[str, ...] = (),
) -> Iterator[Arguments]:
    """By how arguments are used, where some are known: those that are required, or `names`."""
    is_all = {p.name for p in required_parameters(found)} <= {*given} != set()
    solved = Solved({}, {}, 0) if is_all else solved_arguments(found, error, given, names=names)
    if solved:
        kwargs, reasons = {**given, **solved.kwargs}, {**reasons, **solved.reasons}
        rule = Rule.CONVENTIONS.assumption(f"constructor arguments by how they are used, after {solved.tries} tries")
        made = Arguments(kwargs=kwargs, is_last=True, is_made_up=True)
        others = tuple(_filled(made, {**given, **other}, rule, reasons) for other in solved.others)
        yield replace(_filled(made, kwargs, rule, reasons), others=others)


def _filled(arguments: Arguments, kwargs: dict[str, Any], rule: Assumption, reasons: dict[str, str]) -> Arguments:
    values = (assumed(f"kwargs.{name}", value, reasons[name]) for name, value in kwargs.items())
    return replace(arguments, kwargs=kwargs, assumptions=(rule, *values))


def _with(arguments: Arguments, more: dict[str, Any]) -> Arguments:
    rule = Rule.CONVENTIONS.assumption("constructor arguments without which it fails")
    values = (assumed(f"kwargs.{name}", value, "making the model failed without it") for name, value in more.items())
    return replace(
        arguments,
        kwargs={**arguments.kwargs, **more},
        assumptions=(*(arguments.assumptions or (rule,)), *values),
    )


def arguments_shown(found: Callable[..., Any], site: CallSite) -> Arguments | None:
    """The arguments of a call in the project; those of them that can't be read are solved.

    Args:
        found: The class or factory that is called.
        site: The call.
    """
    solved = None if site.is_whole else solved_arguments(found, "", site.kwargs, most_calls=_FEWER_CALLS)
    if not site.is_whole and solved is None and not {p.name for p in required_parameters(found)} <= {*site.kwargs}:
        return None
    reasons = {name: f"as in {site.places[name]}" for name in site.kwargs} | (solved.reasons if solved else {})
    kwargs = {**site.kwargs, **(solved.kwargs if solved else {})}
    values = (assumed(f"kwargs.{name}", value, reasons[name]) for name, value in kwargs.items())
    rule = Rule.CONVENTIONS.assumption(f"constructor arguments as in {site.place}")
    is_made_up = solved is not None
    return Arguments(kwargs=kwargs, assumptions=(rule, *values), is_last=True, is_made_up=is_made_up)


def refuse_arguments(call: Call) -> None:
    """Refuse constructor arguments for what is a model already.

    Args:
        call: What the author wrote.

    Raises:
        TargetError: if there are some.
    """
    for name in ("args", "kwargs", "config"):
        if getattr(call, name) is not None:
            raise TargetError(
                f"{call.model} is a model already, so option `{name}` has nothing to configure; "
                "leave it out, or name the model's class"
            )
