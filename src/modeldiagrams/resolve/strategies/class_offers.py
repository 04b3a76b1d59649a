"""What the class of a model offers: a default configuration, and example inputs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import TargetError
from modeldiagrams.ir.graph import Assumption
from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.inputs.candidate_search import search_candidates
from modeldiagrams.resolve.libraries.class_examples import (
    read_class_example,
    read_dummy_inputs,
    read_image_size,
    read_resized_images,
    read_weights_size,
)
from modeldiagrams.resolve.libraries.factories import list_missing_values, list_small_values
from modeldiagrams.resolve.libraries.huggingface import list_configured_candidates
from modeldiagrams.resolve.names.conventions import (
    find_configuration_class,
    find_unset_fields,
    list_required_parameters,
)
from modeldiagrams.resolve.rules import Rule, make_assumption
from modeldiagrams.resolve.skip_errors import attempt
from modeldiagrams.resolve.strategies.requests import Arguments, Inputs, Strategy, name_inputs, name_option
from modeldiagrams.resolve.values.construct import find_call_problem
from modeldiagrams.resolve.values.input_entries import is_plain, write_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from modeldiagrams.resolve.libraries.class_examples import Example
    from modeldiagrams.resolve.names.candidates import Candidate
    from modeldiagrams.resolve.strategies.requests import InputRequest, ModelRequest

__all__ = ["ClassOffers", "find_config_class", "leave_out_layers"]


class ClassOffers(Strategy):
    """Attributes of the class, by the conventions of the libraries that models come from."""

    def propose_arguments(self, request: ModelRequest) -> Iterator[Arguments]:
        """A default configuration; after it failed, with values for fields that the error names."""
        config_class = find_config_class(request.maker) if request.is_open else None
        if config_class is None:
            return
        request.is_configured = True
        arguments = _with_default_config(request.maker, config_class)
        yield arguments
        values = {} if arguments.config else find_unset_fields(config_class, str(request.errors[-1]))
        if values:
            said = make_assumption("config", values, "making the model failed with the default")
            yield replace(arguments, config=values, assumptions=(*arguments.assumptions[:1], said), is_default=False)

    def find_inputs(self, request: InputRequest) -> Inputs | None:
        """An example that the class declares, or inputs that its configuration tells.

        Raises:
            TargetError: if the example can't be made.
        """
        model = request.model
        example = read_class_example(model, request.built.maker, request.call.model)
        problem = find_call_problem(model.forward, example.args, example.kwargs) if example else None
        if example and (example.inputs_from or not problem):
            return request.with_pass(_from_example(request, example))
        if example:
            request.budget.lines.append(f"{example.source}: {problem}")
        return attempt("what the class offers", request.budget.lines, partial(_from_configuration, request))


def find_config_class(maker: Callable[..., Any], *, is_given: bool = False) -> Callable[..., Any] | None:
    """The class whose default object a model is made of.

    Args:
        maker: The class or factory of the model.
        is_given: Whether the author gives values for it: then it may require some.
    """
    config_class: Callable[..., Any] | None = getattr(maker, "config_class", None)
    if callable(config_class) and (is_given or not list_required_parameters(config_class)):
        return config_class
    return find_configuration_class(maker)


def _with_default_config(maker: Callable[..., Any], config_class: Callable[..., Any]) -> Arguments:
    """A default configuration, with what no pass can do without."""
    is_offered = config_class is getattr(maker, "config_class", None)
    arguments = Arguments(config_class=config_class, is_default=True)
    values = _missing_values(arguments) if is_offered else {}
    default = f"a default {config_class.__name__}"
    why = (
        f"{config_class.__name__} has None by default" if values else f"{default}, because no option `config` is given"
    )
    rule = Rule.CLASS if is_offered else Rule.CONVENTIONS
    said = (rule.assumption(f"built from {default}"), make_assumption("config", values, why))
    return replace(arguments, config=values, assumptions=said)


def _missing_values(arguments: Arguments) -> dict[str, Any]:
    try:
        return list_missing_values(arguments.make_config())
    except TargetError:
        return {}  # making the model raises it again


def leave_out_layers(arguments: Arguments) -> Arguments | None:
    """The same with fewer layers than an assumed configuration has; None if there are none to leave out."""
    values = list_small_values(arguments.make_config()) if arguments.config_class else {}
    if not values:
        return None
    values = _merge(arguments.config, values)
    small = make_assumption(
        "config", values, "fewer layers than by default, because no pass got through a model of full size"
    )
    return replace(arguments, config=values, assumptions=(arguments.assumptions[0], small))


def _merge(values: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Both, also in configurations inside."""
    inside = {name: _merge(values[name], more[name]) for name in values.keys() & more if isinstance(more[name], dict)}
    return {**values, **more, **inside}


def _from_example(request: InputRequest, example: Example) -> Inputs:
    reason = f"from {example.source}"
    rule = Rule.CLASS.assumption(f"example inputs {reason}")
    if example.inputs_from:
        values = [Assumption(subject="inputs_from", value=example.inputs_from, reason="the class offers it")]
    else:
        keys: list[str | int] = [*name_inputs(request.model, len(example.args)), *example.kwargs]
        entries = [write_entry(value) for value in (*example.args, *example.kwargs.values())]
        pairs = dict(zip(keys, entries, strict=True)) if is_plain(entries) else {}
        values = [make_assumption(name_option(key), entry, reason) for key, entry in pairs.items()]
    return Inputs(example.args, example.kwargs, (rule, *values))


def _from_configuration(request: InputRequest) -> Inputs | None:
    model = request.model
    for candidates in _class_candidates(request):
        found = search_candidates(model, candidates, request.budget)
        if found:
            return request.as_inputs(found, Rule.CLASS)
    if not get_parameters(model.forward) and find_call_problem(model.forward, (object(),), {}):
        reason = "forward has no parameters"
        return Inputs(assumptions=(Rule.CLASS.assumption(reason), make_assumption("inputs", [], reason)))
    return None


def _class_candidates(request: InputRequest) -> Iterator[Mapping[str | int, Sequence[Candidate]]]:
    """Candidates by what the class says; an attribute that raises is logged and left out."""
    readers = (
        read_dummy_inputs,
        read_image_size,
        read_resized_images,
        partial(read_weights_size, maker=request.built.maker),
    )
    for read in readers:
        try:
            yield read(request.model)
        except TargetError as error:
            request.budget.lines.append(str(error))
    yield from list_configured_candidates(request.model)
