"""What a model is called with, by the first rule that has an answer.

Long because the rules follow each other, and each may leave something to the next.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import TargetError
from modeldiagrams.ir.graph import Assumption
from modeldiagrams.target.as_options import entry_of, is_plain
from modeldiagrams.target.construct import call_problem
from modeldiagrams.target.forward import parameters_of
from modeldiagrams.target.inference.candidates import Candidate
from modeldiagrams.target.inference.class_examples import (
    class_example,
    configured_image,
    dummy_candidates,
    image_for_weights,
    resized_images,
)
from modeldiagrams.target.inference.constructor_sizes import preferring_sizes
from modeldiagrams.target.inference.defects import Defects, defects_of
from modeldiagrams.target.inference.endured import attempted
from modeldiagrams.target.inference.huggingface import configured_candidates
from modeldiagrams.target.inference.inferred import inferred_candidates
from modeldiagrams.target.inference.input_solver import InputSolver
from modeldiagrams.target.inference.rules import Rule, assumed
from modeldiagrams.target.inference.search import (
    Found,
    Search,
    dead_inputs,
    is_connected,
    search,
    trial_pass,
)
from modeldiagrams.target.inputs import from_callable, from_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from torch import nn

    from modeldiagrams.options.options import Call
    from modeldiagrams.target.build import Built
    from modeldiagrams.target.inference.budget import Budget
    from modeldiagrams.target.inference.class_examples import Example
    from modeldiagrams.tracer import Trace

__all__ = ["WRITE_INPUTS", "Inputs", "resolve_inputs"]

WRITE_INPUTS = "write the option `inputs` with a shape for each tensor, or `inputs_from`"
"""What authors are told whose model no rule finds inputs for."""
_MANY = 10**6
"""More inputs than any model has."""
_FIRST_PASSES = 8
"""With usual inputs, before what fails is answered."""
_LAST_PASSES = 10
"""With other combinations of usual inputs, where no failure could be answered."""
_ALL_TRIES = (_MANY, 12)
"""Until there is a solution, and after the first one, for a better one."""
_TRIES_FOR_ROWS = (5, 5)
"""Where the model runs, but only with one row."""
_MOST_SOLUTIONS = 12
"""Of which the best is taken."""
_MOST_ODD = 4
"""Of which the least odd is taken, where nothing else is wrong."""


@dataclass
class Inputs:
    """Example inputs, or why there are none."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()
    note: str | None = None
    """For a model that no rule finds inputs for: which options to write."""
    tried: tuple[str, ...] = ()
    """The passes of the search, one line each."""
    trace: Trace | None = None
    """The pass with these inputs, if one was recorded."""

    @property
    def is_enough(self) -> bool:
        """Whether no other variant of the model needs a try."""
        return self.note is None and (self.trace is None or self.trace.graph.status.error is None)


def resolve_inputs(built: Built, call: Call, budget: Budget) -> Inputs:
    """Apply the rules in their order.

    Args:
        built: What will be called.
        call: What the author wrote: `inputs`, `inputs_from`, or neither.
        budget: Limits and logs the passes of a search.

    Returns:
        The inputs. A model that no rule finds inputs for gets a note instead.

    Raises:
        TargetError: if what the author wrote, in the options or in the class, can't be made.
    """
    if call.inputs is not None and call.inputs_from is not None:
        raise TargetError("expected one of the options `inputs` and `inputs_from`, got both; leave one out")
    if call.inputs_from is not None:
        return _with_pass(built, Inputs(*from_callable(call.inputs_from)))
    if call.inputs is not None:
        return _with_pass(built, Inputs(*from_entries(call.inputs)))
    example = class_example(built.model, built.maker, call.model)
    problem = call_problem(built.model.forward, example.args, example.kwargs) if example else None
    if example and (example.inputs_from or not problem):
        return _with_pass(built, _from_example(built.model, example))
    if example:
        budget.lines.append(f"{example.source}: {problem}")
    with preferring_sizes(built.arguments):
        solver = cache(lambda: InputSolver(built.model, budget))
        attempt = partial(attempted, "a source of inputs", budget.lines)
        return (
            attempt(lambda: _as_in_project(built, budget))
            or attempt(lambda: _from_class(built, budget))
            or _from_search(built.model, budget, solver)
            or _no_inputs(built.model, call.model, budget)
        )


def _with_pass(built: Built, inputs: Inputs) -> Inputs:
    """With its pass, where that decides whether another variant of the model is needed."""
    if not (built.is_on_meta or built.variant) or call_problem(built.model.forward, inputs.args, inputs.kwargs):
        return inputs
    return replace(inputs, trace=trial_pass(built.model, inputs.args, inputs.kwargs, "auto")[0])


def _as_in_project(built: Built, budget: Budget) -> Inputs | None:
    """Inputs that the project itself calls the model with, where it makes it as we did."""
    for entries in built.example.inputs if built.example else ():
        reason = f"as in {built.example.place}" if built.example else ""
        names = _names(built.model, len(entries))
        candidates = {name: [Candidate(entry, reason)] for name, entry in zip(names, entries, strict=True)}
        found = search(built.model, candidates, budget)
        if found:
            return _from_found(found, Rule.INFERRED, budget)
    return None


def _from_class(built: Built, budget: Budget) -> Inputs | None:
    """Rule 2: candidates of the class."""
    model = built.model
    for candidates in _class_candidates(model, built.maker, budget):
        found = search(model, candidates, budget)
        if found:
            return _from_found(found, Rule.CLASS, budget)
    if not parameters_of(model.forward) and call_problem(model.forward, (object(),), {}):
        reason = "forward has no parameters"
        return Inputs(assumptions=(Rule.CLASS.assumption(reason), assumed("inputs", [], reason)))
    return None


def _from_search(model: nn.Module, budget: Budget, solver: Callable[[], InputSolver]) -> Inputs | None:
    """Rule 4: candidates of names and layers, and what forward does with them."""
    attempt = partial(attempted, "a source of inputs", budget.lines)
    usual = attempt(lambda: [Search(model, each, budget) for each in inferred_candidates(model) if each]) or []
    return (
        attempt(lambda: _from_usual(model, budget, usual, _FIRST_PASSES, solver))
        or attempt(lambda: _from_failures(model, budget, solver()))
        or attempt(lambda: _from_usual(model, budget, usual, _LAST_PASSES, solver))
    )


def _from_usual(
    model: nn.Module, budget: Budget, searches: Sequence[Search], passes: int, solver: Callable[[], InputSolver]
) -> Inputs | None:
    """Inputs that are usual for names and layers, or better ones where some of them make no difference."""
    for each in searches:
        found = each.more(passes)
        if found:
            dead = _dead_inputs(model, found)
            worst = (dead,) if dead else (0, True) if solver().is_for_one_row(found.entries) else ()
            most = _ALL_TRIES if dead else _TRIES_FOR_ROWS
            better = _from_failures(model, budget, solver(), worst, most) if worst else None
            return better or _from_found(found, Rule.INFERRED, budget)
    return None


def _dead_inputs(model: nn.Module, found: Found) -> int:
    """How many of the inputs that were found make no difference."""
    args, kwargs = from_entries(found.entries)
    trace = found.trace or trial_pass(model, args, kwargs, "auto")[0]
    return dead_inputs(trace.graph)


def _from_failures(
    model: nn.Module,
    budget: Budget,
    solver: InputSolver,
    worst: tuple[int, ...] = (_MANY,),
    most: tuple[int, int] = _ALL_TRIES,
) -> Inputs | None:
    """The best inputs that what fails asks for, with less `Defects` than those that are known."""
    best = _best_from_failures(model, budget, solver, most)
    return _from_found(best[1], Rule.INFERRED, budget) if best and best[0] < worst else None


def _best_from_failures(
    model: nn.Module, budget: Budget, solver: InputSolver, most: tuple[int, int]
) -> tuple[Defects, Found] | None:
    """Inputs that what fails asks for, tried where no candidate works as it is, or some make no difference."""
    best: tuple[Defects, Found] | None = None
    passes = min(most[0], budget.left - _LAST_PASSES)
    for count, solution in enumerate(islice(solver.solutions(passes, most[1]), _MOST_SOLUTIONS), 1):
        args, kwargs = from_entries(solution.entries)
        with budget.limited():
            trace, result = trial_pass(model, args, kwargs, "auto")
        budget.lines.append(f"{solution.entries} ({trace.graph.status.mode}): {result}")
        defects = defects_of(model, trace.graph, solution, solver.sizes.is_own)
        if is_connected(trace.graph) and (best is None or defects < best[0]):
            best = defects, Found(solution.entries, solver.reasons(solution.entries), None)
        is_good = best is not None and not any(best[0] if count < _MOST_ODD else best[0][:-1])
        if budget.is_exhausted or is_good:
            break
    return best


def _class_candidates(
    model: nn.Module, maker: Any, budget: Budget
) -> Iterator[Mapping[str | int, Sequence[Candidate]]]:
    """Candidates by rule 2; an attribute that raises is logged and left out."""
    for read in (dummy_candidates, configured_image, resized_images, partial(image_for_weights, maker=maker)):
        try:
            yield read(model)
        except TargetError as error:
            budget.lines.append(str(error))
    yield from configured_candidates(model)


def _from_example(model: nn.Module, example: Example) -> Inputs:
    reason = f"from {example.source}"
    rule = Rule.CLASS.assumption(f"example inputs {reason}")
    if example.inputs_from:
        values = [Assumption(subject="inputs_from", value=example.inputs_from, reason="the class offers it")]
    else:
        keys: list[str | int] = [*_names(model, len(example.args)), *example.kwargs]
        entries = [entry_of(value) for value in (*example.args, *example.kwargs.values())]
        pairs = dict(zip(keys, entries, strict=True)) if is_plain(entries) else {}
        values = [assumed(_option(key), entry, reason) for key, entry in pairs.items()]
    return Inputs(example.args, example.kwargs, (rule, *values))


def _from_found(found: Found, rule: Rule, budget: Budget) -> Inputs:
    args, kwargs = from_entries(found.entries)
    count = len(budget.lines)
    tries = f", after {count} tries" if count > 1 else ""
    assumption = rule.assumption(f"example inputs that the model can be called with{tries}")
    values = [assumed(_option(key), entry, found.reasons[key]) for key, entry in found.entries.items()]
    return Inputs(args, kwargs, (assumption, *values), tried=tuple(budget.lines), trace=found.trace)


def _no_inputs(model: nn.Module, name: str, budget: Budget) -> Inputs:
    parameters = parameters_of(model.forward)
    required = [p.name for p in parameters.values() if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    note = (
        f"No inputs were found that {name} can be called with, so the diagram shows modules but no data flow"
        f"{_reason(budget)}. Its forward takes {', '.join(required or parameters)}: {WRITE_INPUTS}."
    )
    reason = f"only the modules are shown, because no example inputs were found in {len(budget.lines)} tries"
    return Inputs(assumptions=(Rule.HIERARCHY.assumption(reason),), note=note, tried=tuple(budget.lines))


def _reason(budget: Budget) -> str:
    """What most passes raised, if it was the same: then it is likely not the inputs' fault."""
    (failure, count), *_ = budget.failures.most_common(1) or [("", 0)]
    return f"; most tries raised {failure}" if 2 * count > budget.failures.total() else ""


def _names(model: nn.Module, count: int) -> list[str | int]:
    """Names of the first positional parameters; their positions, unless all of them have one."""
    parameters = [*parameters_of(model.forward).values()][:count]
    named = [p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    return [*named] if len(named) == count else [*range(count)]


def _option(key: str | int) -> str:
    """An input's place in the option `inputs`."""
    return f"inputs[{key}]" if isinstance(key, int) else f"inputs.{key}"
