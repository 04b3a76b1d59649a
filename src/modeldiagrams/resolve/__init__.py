"""From options to a model and its example inputs. Runs user code, so only the tracing process imports it.

`strategies` lists who proposes constructor arguments and inputs, in order; `models` makes the model of the first
arguments that work. Every assumption becomes part of the graph, written as the author would have written it.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from modeldiagrams.errors import TargetError
from modeldiagrams.ir.case_texts import AS_TRACED
from modeldiagrams.resolve.code.user_code import is_external, is_out_of_memory, loaded_sources, seeded
from modeldiagrams.resolve.dimensions.probe import find_sizes
from modeldiagrams.resolve.exploring import rerun_within, unite_traces
from modeldiagrams.resolve.inputs.budget import Budget
from modeldiagrams.resolve.models import make_variants
from modeldiagrams.resolve.names.candidates import preferring_sizes
from modeldiagrams.resolve.names.vocabulary import vocabulary_extended
from modeldiagrams.resolve.parts import find_call, find_method, find_part
from modeldiagrams.resolve.recorded_call import recorded_options
from modeldiagrams.resolve.sampling import add_samples
from modeldiagrams.resolve.strategies import STRATEGIES
from modeldiagrams.resolve.strategies.project_calls import list_factory_arguments
from modeldiagrams.resolve.strategies.requests import Built, InputRequest, ModelRequest
from modeldiagrams.resolve.values.construct import find_call_problem
from modeldiagrams.resolve.values.input_values import make_inputs
from modeldiagrams.tracer import Trace, entered_by, trace_run
from modeldiagrams.tracer.graph.build_graph import module_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import nn

    from modeldiagrams.ir.graph import Assumption, Graph
    from modeldiagrams.options.options import Call
    from modeldiagrams.resolve.strategies.requests import Inputs
    from modeldiagrams.tracer import Mode

__all__ = [
    "InputsError",
    "Target",
    "complete_graph",
    "find_inputs",
    "graph_of",
    "loaded_sources",
    "record",
    "resolve",
    "seeded",
    "take_part",
]


class InputsError(TargetError):
    """The model was made, but its example inputs could not be."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A model, ready to be called."""

    model: nn.Module
    """In eval mode by default, so that dropout and batch statistics don't confuse the picture."""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any]
    assumptions: tuple[Assumption, ...]
    """What the author left out."""
    sources: tuple[str, ...] = ()
    """Files that were read for what the author left out."""
    note: str | None = None
    """Why there are no inputs, and what to write; then the graph is the module hierarchy."""
    tried: tuple[str, ...] = ()
    """The passes of the search for inputs, one line each."""
    trace: Trace | None = None
    """The pass, if the search for inputs recorded it."""
    built: Built | None = None
    """How the model was made; None for a part of it, and a model that was given."""
    entry: Callable[..., Any] | None = None
    """What runs in place of the model's forward."""
    random_inputs: bool = False
    """As in `Samples`."""


def resolve(call: Call, device: str | None = None, built: Built | None = None) -> Target:
    """Find or build the model and make its example inputs.

    Args:
        call: What the author wrote.
        device: Where the model is going to run; None for the CPU.
        built: The model, if it was made before.

    Returns:
        The model, in eval mode unless `training` is set, with inputs that are the same in every process.

    Raises:
        TargetError: if there is no such model or it can't be built.
        InputsError: if its inputs can't be made; a `TargetError` as well.
    """
    if built is not None:
        built.model.eval()  # another case may have trained it
    target = _as_written_or_recorded(call, device, built)
    if call.training:
        target.model.train()
        target = replace(target, trace=None)  # that was in eval mode
    return target if call.part is None else take_part(target, call.part, call.model)


def take_part(target: Target, path: str, name: str) -> Target:
    """Make a submodule the model."""
    part = find_part(target.model, path, name)
    if target.note is not None:
        return replace(target, model=part)
    with entered_by(target.model, target.entry):
        args, kwargs = find_call(target.model, part, target.args, target.kwargs, f"{name}, up to {path},")
    return replace(target, model=part, args=args, kwargs=kwargs, trace=None, built=None, entry=None)


def _as_written_or_recorded(call: Call, device: str | None, built: Built | None) -> Target:
    known = recorded_options(call)
    call = msgspec.structs.replace(call, recorded=None)
    if known is None:
        return _resolved(call, device, built)
    try:
        target = _resolved(known.call, device, built)
        if device is None and not call.measure_time:
            target = replace(target, trace=_checked_pass(target))
        return replace(target, assumptions=(*known.assumptions, *target.assumptions))
    except TargetError as error:
        if is_external(error) or is_out_of_memory(str(error)):
            raise  # another call must not take the place of one that may work again
        guessed = _resolved(call, device, built)
        return replace(guessed, assumptions=(known.not_used(str(error)), *guessed.assumptions))


def _checked_pass(target: Target) -> Trace:
    """The pass of a model as it was recorded, which may have changed since."""
    with seeded():
        trace = record(target)
    if error := trace.graph.status.error:
        cause = OSError() if issubclass(getattr(builtins, error.type, Exception), OSError) else None
        raise InputsError(f"{error.type}: {error.message}") from cause
    return trace


def _resolved(call: Call, device: str | None, made: Built | None) -> Target:
    """By what the author wrote, and by the rules."""
    _check_inputs((call.vocabulary or {}).get("inputs", {}))
    with vocabulary_extended(call.vocabulary):
        built, inputs, tried = _first_that_works(call, device, made)
    entry = find_method(built.model, call.method, call.model)
    problem = None if inputs.note else find_call_problem(entry or built.model.forward, inputs.args, inputs.kwargs)
    if problem:
        raise InputsError(f"{call.model}'s {call.method or 'forward'} can't be called with these inputs: {problem}")
    return Target(
        model=built.model,
        args=inputs.args,
        kwargs=inputs.kwargs,
        assumptions=(*built.arguments.assumptions, *inputs.assumptions),
        sources=built.arguments.files,
        note=inputs.note,
        tried=tuple(tried),
        trace=None if device or call.measure_time else inputs.trace,  # that was on the CPU, and without times
        built=built,
        entry=entry,
        random_inputs=call.inputs_from is None,
    )


def _check_inputs(vocabulary: dict[str, Any]) -> None:
    """Make each input of a vocabulary once: the search takes one that can't be made for one that doesn't fit."""
    for name, entry in vocabulary.items():
        try:
            make_inputs([entry])
        except TargetError as error:
            reason = str(error).replace("option `inputs`, [0]", f"option `vocabulary`, inputs.{name}")
            raise TargetError(reason, error.frames) from error


def graph_of(  # noqa: PLR0913  (as `own_models.trace`)
    target: Target,
    mode: Mode = "auto",
    *,
    costs: bool = True,
    measure_time: bool = False,
    explore: bool = False,
    dims: Mapping[str, Any] | Literal["auto"] | None = None,
    sample: bool = False,
) -> Graph:
    """Trace a target in this process; the graph has the assumptions of both."""
    found = record(target, mode, costs=costs, measure_time=measure_time)
    graph = complete_graph(found, target, explore=explore, dims=dims, sample=sample)
    return msgspec.structs.replace(graph, assumptions=(*target.assumptions, *graph.assumptions))


def complete_graph(
    found: Trace, target: Target, *, explore: bool, dims: Mapping[str, Any] | Literal["auto"] | None, sample: bool
) -> Graph:
    """Add what further passes tell to the graph of a pass: other sides, or names of sizes and samples."""
    graph = unite_traces({AS_TRACED: found}, explores=explore).graph
    if explore:
        return graph
    sizes = find_sizes(found, target, dims)
    graph = add_samples(graph, found, random_inputs=target.random_inputs) if sample else graph
    return msgspec.structs.replace(graph, sizes=sizes)


def _has_mode(graph: Graph, mode: Mode) -> bool:
    """Whether a pass in this mode alone gave a graph that was recorded in the mode ``auto``."""
    return graph.status.mode == mode and not graph.status.costs_of_input


def _first_that_works(call: Call, device: str | None, made: Built | None) -> tuple[Built, Inputs, list[str]]:
    """Model, inputs and log of the first variant that runs; of the default one if none does."""
    first: tuple[Built, Inputs] | None = None
    tried: list[str] = []
    budget: Budget | None = None
    for built in make_variants(call, device) if made is None else [made]:
        budget = budget or Budget()
        try:
            inputs = find_inputs(built, call, _share(budget, built, call, len(tried)))
        except TargetError as error:
            raise InputsError(str(error), error.frames) from error
        tried += [f"{built.variant}: {line}" if built.variant else line for line in inputs.tried]
        if inputs.is_enough:
            return built, inputs, tried
        first = first or (built, inputs)
    if first is None:
        raise TargetError(f"{call.model} can't be made")
    return *first, tried


def find_inputs(built: Built, call: Call, budget: Budget) -> Inputs:
    """Inputs by the first strategy that has some; the last one always has an answer."""
    request = InputRequest(built, call, budget)
    preferring = preferring_sizes(built.arguments.values_by_name(built.maker))
    with preferring, entered_by(built.model, find_method(built.model, call.method, call.model)):
        found = (strategy.find_inputs(request) for strategy in STRATEGIES)
        return next(inputs for inputs in found if inputs is not None)


def _share(budget: Budget, built: Built, call: Call, used: int) -> Budget:
    """Of the passes for all variants of a model: the default one may have all where no other follows."""
    if built.variant:
        return budget.of_variant(used)
    may_be_smaller = any(assumption.subject == "config" for assumption in built.arguments.assumptions)
    is_offered = any(True for _ in list_factory_arguments(ModelRequest(built.maker, call)))
    has_variants = built.is_on_meta or may_be_smaller or is_offered
    return budget.without_variants() if has_variants else budget


def record(target: Target, mode: Mode = "auto", *, costs: bool = True, measure_time: bool = False) -> Trace:
    """Trace one pass of a target, or build its module tree if no inputs are known."""
    if target.note is not None:
        return Trace(module_tree(target.model, (target.note,)), ())
    entering, trace = partial(entered_by, target.model, target.entry), target.trace
    if trace is None or (mode != "auto" and not _has_mode(trace.graph, mode)):
        with entering():
            trace = trace_run(target.model, target.args, target.kwargs, mode, costs=costs, measure_time=measure_time)
    return rerun_within(trace, entering)
