"""Answers to failures: of a constructor that runs with stubs, and of passes with guessed inputs."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.arguments.argument_search import solve_arguments
from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.inputs.candidate_search import (
    FoundInputs,
    count_dead_inputs,
    find_defects,
    is_connected,
    run_trial_pass,
)
from modeldiagrams.resolve.names.conventions import list_required_parameters
from modeldiagrams.resolve.names.vocabulary import PROJECT, find_project_value
from modeldiagrams.resolve.rules import Rule, make_assumption
from modeldiagrams.resolve.skip_errors import attempt
from modeldiagrams.resolve.strategies.requests import Arguments, Strategy
from modeldiagrams.resolve.values.input_values import make_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.ir.graph import Assumption
    from modeldiagrams.resolve.inputs.candidate_search import Defects
    from modeldiagrams.resolve.strategies.requests import InputRequest, Inputs, ModelRequest

__all__ = ["Failures", "find_better_inputs"]

_MANY = 10**6
"""More inputs than any model has."""
_KEPT_PASSES = 10
"""For other usual inputs, which follow."""
_TRIES = (_MANY, 12)
"""Passes until there is a solution, and after the first one, for a better one."""
_MAX_SOLUTIONS = 12


class Failures(Strategy):
    """Searches that go where failures point."""

    def propose_arguments(self, request: ModelRequest) -> Iterator[Arguments]:
        """Arguments by how the constructor uses them, where a call with usual ones failed or made too few layers."""
        maker = request.maker
        if not request.is_open or request.is_configured:
            return
        if request.lacks_layers:
            optional = tuple(name for name, p in get_parameters(maker).items() if p.default is None)
            if list_required_parameters(maker) or optional:
                yield from _by_use(request, "", {}, {}, names=() if list_required_parameters(maker) else optional)
            return
        known = {p.name: find_project_value("arguments", p.name) for p in list_required_parameters(maker)}
        given = {name: value for name, value in known.items() if value is not None}
        yield from _by_use(request, str(request.failure or ""), given, dict.fromkeys(given, PROJECT))

    def find_inputs(self, request: InputRequest) -> Inputs | None:
        """The best inputs that failed passes ask for."""
        return attempt("failures", request.budget.lines, partial(_inputs_by_failures, request, (_MANY,), _TRIES))


def _by_use(
    request: ModelRequest, error: str, given: dict[str, Any], reasons: dict[str, str], names: tuple[str, ...] = ()
) -> Iterator[Arguments]:
    """Arguments by how they are used: all required ones, or `names`.

    Args:
        request: The class.
        error: What a call raised; it may name arguments.
        given: Arguments that are known.
        reasons: Why these are what they are.
        names: The arguments to find, where they are not the required ones.
    """
    is_complete = {p.name for p in list_required_parameters(request.maker)} <= {*given} != set()
    solved = None if is_complete else solve_arguments(request.maker, error, given, names=names)
    if solved is None and not is_complete:
        return
    tries, found = (solved.tries, solved.kwargs) if solved else (0, {})
    rule = Rule.CONVENTIONS.assumption(f"constructor arguments by how they are used, after {tries} tries")
    reasons = {**reasons, **(solved.reasons if solved else {})}
    yield _arguments({**given, **found}, rule, reasons)


def _arguments(kwargs: dict[str, Any], rule: Assumption, reasons: dict[str, str]) -> Arguments:
    values = (make_assumption(f"kwargs.{name}", value, reasons[name]) for name, value in kwargs.items())
    return Arguments(kwargs=kwargs, assumptions=(rule, *values), is_guessed=True)


def find_better_inputs(request: InputRequest, found: FoundInputs) -> Inputs | None:
    """Better inputs than some with which the model runs, if an input makes no difference."""
    args, kwargs = make_inputs(found.entries)
    trace = found.trace or run_trial_pass(request.model, args, kwargs, "auto")[0]
    dead = count_dead_inputs(trace.graph)
    return _inputs_by_failures(request, (dead,), _TRIES) if dead else None


def _inputs_by_failures(request: InputRequest, worst: tuple[int, ...], tries: tuple[int, int]) -> Inputs | None:
    """The best inputs that failures ask for, with fewer defects than `worst`."""
    best = _best_solution(request, tries)
    return request.as_inputs(best[1], Rule.INFERRED) if best and best[0] < worst else None


def _best_solution(request: InputRequest, tries: tuple[int, int]) -> tuple[Defects, FoundInputs] | None:
    best: tuple[Defects, FoundInputs] | None = None
    search, budget = request.failures, request.budget
    passes = min(tries[0], budget.left - _KEPT_PASSES)
    for solution in islice(search.solutions(passes, tries[1]), _MAX_SOLUTIONS):
        args, kwargs = make_inputs(solution.entries)
        with budget.limited():
            trace, result = run_trial_pass(request.model, args, kwargs, "auto")
        budget.lines.append(f"{solution.entries} ({trace.graph.status.mode}): {result}")
        defects = find_defects(request.model, trace.graph, solution)
        if is_connected(trace.graph) and (best is None or defects < best[0]):
            best = defects, FoundInputs(solution.entries, search.reasons(solution.entries), None)
        if budget.is_exhausted or (best is not None and not any(best[0])):
            break
    return best
