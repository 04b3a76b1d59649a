"""Literal calls in the project, and functions in the module of a class that make one."""

from __future__ import annotations

import inspect
from itertools import islice
from typing import TYPE_CHECKING

from modeldiagrams.resolve.code.literal_calls import find_literal_calls
from modeldiagrams.resolve.code.source import get_path
from modeldiagrams.resolve.libraries.factories import find_factories
from modeldiagrams.resolve.names.conventions import find_needed_arguments, list_required_parameters
from modeldiagrams.resolve.rules import Rule, make_assumption
from modeldiagrams.resolve.skip_errors import iterate_safely
from modeldiagrams.resolve.strategies.requests import Arguments, Strategy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.resolve.code.literal_calls import LiteralCall
    from modeldiagrams.resolve.strategies.requests import ModelRequest

__all__ = ["ProjectCalls", "list_factory_arguments"]

_MAX_SITES = 6
_MAX_FACTORIES = 3


class ProjectCalls(Strategy):
    """Calls that are read in the files of the project, never run."""

    def propose_arguments(self, request: ModelRequest) -> Iterator[Arguments]:
        """For a class that requires arguments: of calls that can be read, and of factories."""
        if not request.is_open or not list_required_parameters(request.maker):
            return
        sites = islice(iterate_safely(find_literal_calls(request.maker)), _MAX_SITES)
        yield from map(_arguments_of_site, sites)
        yield from list_factory_arguments(request)


def _arguments_of_site(site: LiteralCall) -> Arguments:
    place = f"as in {site.place}"
    rule = Rule.CONVENTIONS.assumption(f"constructor arguments {place}")
    values = (make_assumption(f"kwargs.{name}", value, place) for name, value in site.kwargs.items())
    return Arguments(kwargs=site.kwargs, assumptions=(rule, *values), files=(site.file,))


def list_factory_arguments(request: ModelRequest) -> Iterator[Arguments]:
    """Functions in the module of a class that return one and need no argument: ``resnet18`` for ``ResNet``."""
    maker = request.maker
    factories = find_factories(maker) if inspect.isclass(maker) and request.is_open else ()
    for factory in islice(iterate_safely(factories), _MAX_FACTORIES):
        kwargs = find_needed_arguments(factory, {}, "")  # without weights that are fetched by default
        rule = Rule.CONVENTIONS.assumption(f"made by {factory.__name__}, a function beside {maker.__name__}")
        model = make_assumption("model", get_path(factory), f"it makes a {maker.__name__} without any argument")
        values = (make_assumption(f"kwargs.{name}", value, "no weights are fetched") for name, value in kwargs.items())
        yield Arguments(kwargs=kwargs, assumptions=(rule, model, *values), factory=factory, is_guessed=True)
