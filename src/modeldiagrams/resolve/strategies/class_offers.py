"""What the class of a model offers: a default configuration, and example inputs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import TargetError
from modeldiagrams.ir.graph import Assumption
from modeldiagrams.resolve.code.forward import parameters_of
from modeldiagrams.resolve.endured import attempted
from modeldiagrams.resolve.inputs.candidate_search import search
from modeldiagrams.resolve.libraries.class_examples import (
    class_example,
    configured_image,
    dummy_candidates,
    image_for_weights,
    resized_images,
)
from modeldiagrams.resolve.libraries.factories import missing_values, small_values
from modeldiagrams.resolve.libraries.huggingface import configured_candidates
from modeldiagrams.resolve.names.conventions import configuration_class, required_parameters, unset_fields
from modeldiagrams.resolve.rules import Rule, assumed
from modeldiagrams.resolve.strategies.requests import Arguments, Inputs, input_names, option_of_input
from modeldiagrams.resolve.values.construct import call_problem
from modeldiagrams.resolve.values.entries import entry_of, is_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from modeldiagrams.resolve.libraries.class_examples import Example
    from modeldiagrams.resolve.names.candidates import Candidate
    from modeldiagrams.resolve.strategies.requests import InputRequest, ModelRequest

__all__ = ["ClassOffers", "default_config_class", "with_fewer_layers"]


class ClassOffers:
    """Attributes of the class, by the conventions of the libraries that models come from."""

    def propose_arguments(self, request: ModelRequest) -> Iterator[Arguments]:
        """A default configuration; after it failed, with values for fields that the error names."""
        config_class = default_config_class(request.maker) if request.is_open else None
        if config_class is None:
            return
        request.is_configured = True
        arguments = _with_default_config(request.maker, config_class)
        yield arguments
        values = {} if arguments.config else unset_fields(config_class, str(request.errors[-1]))
        if values:
            said = assumed("config", values, "making the model failed with the default")
            yield replace(arguments, config=values, assumptions=(*arguments.assumptions[:1], said), is_default=False)

    def find_inputs(self, request: InputRequest) -> Inputs | None:
        """An example that the class declares, or inputs that its configuration tells.

        Raises:
            TargetError: if the example can't be made.
        """
        model = request.model
        example = class_example(model, request.built.maker, request.call.model)
        problem = call_problem(model.forward, example.args, example.kwargs) if example else None
        if example and (example.inputs_from or not problem):
            return request.with_pass(_from_example(request, example))
        if example:
            request.budget.lines.append(f"{example.source}: {problem}")
        return attempted("what the class offers", request.budget.lines, partial(_from_configuration, request))


def default_config_class(maker: Callable[..., Any], *, is_given: bool = False) -> Callable[..., Any] | None:
    """The class whose default object a model is made of.

    Args:
        maker: The class or factory of the model.
        is_given: Whether the author gives values for it: then it may require some.
    """
    config_class: Callable[..., Any] | None = getattr(maker, "config_class", None)
    if callable(config_class) and (is_given or not required_parameters(config_class)):
        return config_class
    return configuration_class(maker)


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
    said = (rule.assumption(f"built from {default}"), assumed("config", values, why))
    return replace(arguments, config=values, assumptions=said)


def _missing_values(arguments: Arguments) -> dict[str, Any]:
    try:
        return missing_values(arguments.make_config())
    except TargetError:
        return {}  # making the model raises it again


def with_fewer_layers(arguments: Arguments) -> Arguments | None:
    """The same with fewer layers than an assumed configuration has; None if there are none to leave out."""
    values = small_values(arguments.make_config()) if arguments.config_class else {}
    if not values:
        return None
    values = _merge(arguments.config, values)
    small = assumed("config", values, "fewer layers than by default, because no pass got through a model of full size")
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
        keys: list[str | int] = [*input_names(request.model, len(example.args)), *example.kwargs]
        entries = [entry_of(value) for value in (*example.args, *example.kwargs.values())]
        pairs = dict(zip(keys, entries, strict=True)) if is_plain(entries) else {}
        values = [assumed(option_of_input(key), entry, reason) for key, entry in pairs.items()]
    return Inputs(example.args, example.kwargs, (rule, *values))


def _from_configuration(request: InputRequest) -> Inputs | None:
    model = request.model
    for candidates in _class_candidates(request):
        found = search(model, candidates, request.budget)
        if found:
            return request.as_inputs(found, Rule.CLASS)
    if not parameters_of(model.forward) and call_problem(model.forward, (object(),), {}):
        reason = "forward has no parameters"
        return Inputs(assumptions=(Rule.CLASS.assumption(reason), assumed("inputs", [], reason)))
    return None


def _class_candidates(request: InputRequest) -> Iterator[Mapping[str | int, Sequence[Candidate]]]:
    """Candidates by what the class says; an attribute that raises is logged and left out."""
    readers = (
        dummy_candidates,
        configured_image,
        resized_images,
        partial(image_for_weights, maker=request.built.maker),
    )
    for read in readers:
        try:
            yield read(request.model)
        except TargetError as error:
            request.budget.lines.append(str(error))
    yield from configured_candidates(request.model)
