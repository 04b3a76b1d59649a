"""Usual values for names and annotations, and inputs that suit the first layers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.names.conventions import find_needed_arguments, find_usual_arguments
from modeldiagrams.resolve.names.vocabulary import PROJECT, find_project_value
from modeldiagrams.resolve.rules import Rule, make_assumption
from modeldiagrams.resolve.skip_errors import attempt
from modeldiagrams.resolve.strategies.failure_answers import find_better_inputs
from modeldiagrams.resolve.strategies.requests import Arguments, Strategy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.resolve.strategies.requests import InputRequest, Inputs, ModelRequest

__all__ = ["NamesAndLayers", "OtherUsualInputs"]

_FIRST_PASSES = 8
"""With usual inputs, before failures are answered."""
_LAST_PASSES = 10
"""With other combinations of usual inputs, where no failure could be answered."""


class NamesAndLayers(Strategy):
    """Names of parameters, annotations, and the first layers of the model."""

    def propose_arguments(self, request: ModelRequest) -> Iterator[Arguments]:
        """Usual values for all required parameters, or none; then with optional ones without which it fails."""
        if not request.is_open or request.is_configured:
            return
        arguments = _usual_arguments(request)
        yield arguments
        while not request.lacks_layers:
            more = find_needed_arguments(request.maker, arguments.kwargs, str(request.errors[-1]))
            if not more:
                return
            arguments = _with(arguments, more)
            yield arguments

    def find_inputs(self, request: InputRequest) -> Inputs | None:
        """The first usual inputs that work; or better ones, where some of them make no difference."""
        return attempt("usual inputs", request.budget.lines, partial(_try_usual, request, _FIRST_PASSES))


class OtherUsualInputs(Strategy):
    """Other combinations of usual inputs, after failures could not be answered."""

    def find_inputs(self, request: InputRequest) -> Inputs | None:
        """The next usual inputs that work."""
        return attempt("usual inputs", request.budget.lines, partial(_try_usual, request, _LAST_PASSES))


def _usual_arguments(request: ModelRequest) -> Arguments:
    """A call with usual values; without arguments where a name says nothing: the error then names what is missing."""
    usual = find_usual_arguments(request.maker)
    if not usual:
        return Arguments(is_default=True)
    rule = Rule.CONVENTIONS.assumption("constructor arguments by the names of required parameters")
    values = (make_assumption(f"kwargs.{name}", value, _reason_of_name(name, value)) for name, value in usual.items())
    return Arguments(kwargs=usual, assumptions=(rule, *values), is_default=True)


def _reason_of_name(name: str, value: Any) -> str:
    return PROJECT if find_project_value("arguments", name) == value else "a usual value for this name"


def _with(arguments: Arguments, more: dict[str, Any]) -> Arguments:
    rule = Rule.CONVENTIONS.assumption("constructor arguments without which it fails")
    values = (
        make_assumption(f"kwargs.{name}", value, "making the model failed without it") for name, value in more.items()
    )
    said = (*(arguments.assumptions or (rule,)), *values)
    return replace(arguments, kwargs={**arguments.kwargs, **more}, assumptions=said, is_default=False)


def _try_usual(request: InputRequest, passes: int) -> Inputs | None:
    for each in request.usual:
        found = each.more(passes)
        if found:
            return find_better_inputs(request, found) or request.as_inputs(found, Rule.INFERRED)
    return None
