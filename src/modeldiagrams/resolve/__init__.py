"""From options to a model and its example inputs. Runs user code, so only the tracing process imports it.

`strategies` lists who proposes constructor arguments and inputs, in order; `models` makes the model of the first
arguments that work. Every assumption becomes part of the graph, written as the author would have written it.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec
from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.options.options import Call
from modeldiagrams.resolve.code.user_code import is_external, is_out_of_memory, loaded_sources, seeded
from modeldiagrams.resolve.exploring import AS_TRACED, with_other_sides
from modeldiagrams.resolve.inputs.budget import Budget
from modeldiagrams.resolve.models import make_variants
from modeldiagrams.resolve.names.candidates import preferring_sizes
from modeldiagrams.resolve.names.vocabulary import vocabulary_extended
from modeldiagrams.resolve.parts import Writes, find_call, find_part
from modeldiagrams.resolve.recorded_call import recorded_options
from modeldiagrams.resolve.strategies import STRATEGIES
from modeldiagrams.resolve.strategies.hierarchy import WRITE_INPUTS
from modeldiagrams.resolve.strategies.project_calls import list_factory_arguments
from modeldiagrams.resolve.strategies.requests import Built, InputRequest, ModelRequest
from modeldiagrams.resolve.values.construct import find_call_problem
from modeldiagrams.resolve.values.input_values import make_inputs
from modeldiagrams.tracer import Trace, check_arguments, trace_run
from modeldiagrams.tracer.graph.build_graph import module_tree
from modeldiagrams.tracer.restore import restored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modeldiagrams.ir.graph import Assumption, Graph
    from modeldiagrams.resolve.strategies.requests import Inputs
    from modeldiagrams.tracer import Mode

__all__ = ["InputsError", "Target", "graph_of", "loaded_sources", "record", "resolve", "seeded", "trace"]


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


def resolve(call: Call, device: str | None = None) -> Target:
    """Find or build the model and make its example inputs.

    Args:
        call: What the author wrote.
        device: Where the model is going to run; None for the CPU.

    Returns:
        The model, in eval mode unless `training` is set, with inputs that are the same in every process.

    Raises:
        TargetError: if there is no such model or it can't be built.
        InputsError: if its inputs can't be made; a `TargetError` as well.
    """
    target = _as_written_or_recorded(call, device)
    if call.training:
        target.model.train()
        target = replace(target, trace=None)  # that was in eval mode
    return target if call.part is None else _take_part(target, call.part, call.model)


def _take_part(target: Target, path: str, name: str) -> Target:
    """Make a submodule the model."""
    part = find_part(target.model, path, name)
    if target.note is not None:
        return replace(target, model=part)
    args, kwargs = find_call(target.model, part, target.args, target.kwargs, f"{name}, up to {path},")
    return replace(target, model=part, args=args, kwargs=kwargs, trace=None)


def _as_written_or_recorded(call: Call, device: str | None) -> Target:
    known = recorded_options(call)
    call = msgspec.structs.replace(call, recorded=None)
    if known is None:
        return _resolved(call, device)
    try:
        target = _resolved(known.call, device)
        if device is None and not call.measure_time:
            target = replace(target, trace=_checked_pass(target))
        return replace(target, assumptions=(*known.assumptions, *target.assumptions))
    except TargetError as error:
        if is_external(error) or is_out_of_memory(str(error)):
            raise  # another call must not take the place of one that may work again
        guessed = _resolved(call, device)
        return replace(guessed, assumptions=(known.not_used(str(error)), *guessed.assumptions))


def _checked_pass(target: Target) -> Trace:
    """The pass of a model as it was recorded, which may have changed since."""
    with seeded():
        trace = record(target)
    if error := trace.graph.status.error:
        cause = OSError() if issubclass(getattr(builtins, error.type, Exception), OSError) else None
        raise InputsError(f"{error.type}: {error.message}") from cause
    return trace


def _resolved(call: Call, device: str | None) -> Target:
    """By what the author wrote, and by the rules."""
    _check_inputs((call.vocabulary or {}).get("inputs", {}))
    with vocabulary_extended(call.vocabulary):
        built, inputs, tried = _first_that_works(call, device)
    problem = None if inputs.note else find_call_problem(built.model.forward, inputs.args, inputs.kwargs)
    if problem:
        raise InputsError(f"{call.model}'s forward can't be called with these inputs: {problem}")
    return Target(
        model=built.model,
        args=inputs.args,
        kwargs=inputs.kwargs,
        assumptions=(*built.arguments.assumptions, *inputs.assumptions),
        sources=built.arguments.files,
        note=inputs.note,
        tried=tuple(tried),
        trace=None if device or call.measure_time else inputs.trace,  # that was on the CPU, and without times
    )


def _check_inputs(vocabulary: dict[str, Any]) -> None:
    """Make each input of a vocabulary once: the search takes one that can't be made for one that doesn't fit."""
    for name, entry in vocabulary.items():
        try:
            make_inputs([entry])
        except TargetError as error:
            reason = str(error).replace("option `inputs`, [0]", f"option `vocabulary`, inputs.{name}")
            raise TargetError(reason, error.frames) from error


def trace(  # noqa: PLR0913  (as in the tracer)
    model: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    mode: Mode = "auto",
    costs: bool = True,
    measure_time: bool = False,
    part: str | None = None,
    explore: bool = False,
) -> Graph:
    """Run one forward pass of a model and record it.

    An exception that the model raises is not passed on: the graph ends there, see `Graph.status`.
    Weights, buffers, gradients, inputs, attributes of modules and the random state are restored afterwards; the
    docstring of `modeldiagrams.tracer.restore` says exactly what is restored and what is not.

    Args:
        model: A module, or any callable that computes with tensors.
        args: Positional arguments for ``model(...)``. If the model fails without arguments, example inputs are found as
            in documentation; `Graph.assumptions` lists them.
        kwargs: Keyword arguments for ``model(...)``.
        mode: How values are computed. ``fake``: only shapes, no arithmetic. ``meta``: on the meta device, for models
            whose parameters are there. ``real``: with arithmetic. ``auto``: fake, and real if that fails; for
            parameters on the meta device, meta, and fake if that fails.
        costs: Whether to count floating point operations. Without it, a trace is faster but misses the operators of
            C++ extensions.
        measure_time: Whether to measure how long each op takes, in up to ten more passes. These compute real values,
            also in the mode ``auto``. If nothing can be measured, a note of `Graph.status` says why.
        part: The dotted path of a module to trace as the model, with the arguments of its first call in a pass.
        explore: Whether to run up to 24 more passes that take the other side where a tensor's value decided. Those that
            find something new are cases of the graph.

    Returns:
        The graph of the pass, or of the pass as it was traced and those that `explore` found.

    Raises:
        ModelDiagramsError: if the tracer fails where it can't show what it recorded.
        TypeError: if `model` can't be called, is a module class, or has no parts, or if `args` is not a tuple.
        TargetError: if example inputs that the model's class offers can't be made, or a pass does not call the part.
        ValueError: for an unknown mode, and for `measure_time` with a mode that computes no values.
    """
    if part is not None:
        check_arguments(model, args, mode, measure_time=measure_time)
        given = Target(model=model, args=(*args,), kwargs={**(kwargs or {})}, assumptions=())
        return _trace_part(given, part, mode, costs=costs, measure_time=measure_time, explore=explore)
    found = trace_run(model, args, kwargs, mode, costs=costs, measure_time=measure_time)
    if found.graph.status.error is None or args or kwargs or not isinstance(model, nn.Module):
        return (with_other_sides({AS_TRACED: found}) if explore else found).graph
    return graph_of(_infer_target(model), mode, costs=costs, measure_time=measure_time, explore=explore)


def _trace_part(given: Target, part: str, mode: Mode, **options: bool) -> Graph:
    """Trace a submodule of the caller's own model, and restore what the model's pass before it changed."""
    model = given.model
    if not isinstance(model, nn.Module):
        raise TypeError(f"expected a module, as only modules have parts, got {model!r}")
    whole = given if given.args or given.kwargs else _infer_target(model)
    # restored after the part has run: it may need what the model has set before it calls it
    with restored(model, (whole.args, whole.kwargs), ()) as snapshot:
        with Writes(snapshot.before_write):
            found = _take_part(whole, part, type(model).__name__)
        return graph_of(found, mode, **options)


def _infer_target(model: nn.Module) -> Target:
    kind = type(model)
    inputs = _find_inputs(Built(model, model), Call(model=f"{kind.__module__}.{kind.__qualname__}"), Budget())
    note = inputs.note and inputs.note.replace(WRITE_INPUTS, "give the arguments of one call")
    return Target(model=model, args=inputs.args, kwargs=inputs.kwargs, assumptions=inputs.assumptions, note=note)


def graph_of(
    target: Target, mode: Mode = "auto", *, costs: bool = True, measure_time: bool = False, explore: bool = False
) -> Graph:
    """Trace a target in this process; the graph has the assumptions of both."""
    found = record(target, mode, costs=costs, measure_time=measure_time)
    graph = (with_other_sides({AS_TRACED: found}) if explore else found).graph
    return msgspec.structs.replace(graph, assumptions=(*target.assumptions, *graph.assumptions))


def _has_mode(graph: Graph, mode: Mode) -> bool:
    """Whether a pass in this mode alone gave a graph that was recorded in the mode ``auto``."""
    return graph.status.mode == mode and not graph.status.costs_of_input


def _first_that_works(call: Call, device: str | None) -> tuple[Built, Inputs, list[str]]:
    """Model, inputs and log of the first variant that runs; of the default one if none does."""
    first: tuple[Built, Inputs] | None = None
    tried: list[str] = []
    budget: Budget | None = None
    for built in make_variants(call, device):
        budget = budget or Budget()
        try:
            inputs = _find_inputs(built, call, _share(budget, built, call, len(tried)))
        except TargetError as error:
            raise InputsError(str(error), error.frames) from error
        tried += [f"{built.variant}: {line}" if built.variant else line for line in inputs.tried]
        if inputs.is_enough:
            return built, inputs, tried
        first = first or (built, inputs)
    if first is None:
        raise TargetError(f"{call.model} can't be made")
    return *first, tried


def _find_inputs(built: Built, call: Call, budget: Budget) -> Inputs:
    """Inputs by the first strategy that has some; the last one always has an answer."""
    request = InputRequest(built, call, budget)
    with preferring_sizes(built.arguments.values_by_name(built.maker)):
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
    if target.trace is not None and (mode == "auto" or _has_mode(target.trace.graph, mode)):
        return target.trace
    return trace_run(target.model, target.args, target.kwargs, mode, costs=costs, measure_time=measure_time)
