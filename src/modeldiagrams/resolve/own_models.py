"""Traces models that a program has already made."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from modeldiagrams.errors import ModelDiagramsError, OptionError, TargetError
from modeldiagrams.options.case_options import GENERATE, LONGEST, check_given_cases
from modeldiagrams.options.dims import OFF, read_dims
from modeldiagrams.options.options import Call
from modeldiagrams.resolve import Target, complete_graph, find_inputs, graph_of, record, take_part
from modeldiagrams.resolve.case_traces import in_one_mode
from modeldiagrams.resolve.dimensions.probe import AUTO
from modeldiagrams.resolve.exploring import rerun_within, unite_traces
from modeldiagrams.resolve.generation import find_generation_calls
from modeldiagrams.resolve.inputs.budget import Budget
from modeldiagrams.resolve.parts import Writes, find_method
from modeldiagrams.resolve.strategies.hierarchy import WRITE_INPUTS
from modeldiagrams.resolve.strategies.requests import Built
from modeldiagrams.resolve.values.construct import find_call_problem
from modeldiagrams.tracer import check_arguments, entered_by, trace_run
from modeldiagrams.tracer.restore import restored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.tracer import Mode, Trace

__all__ = ["trace", "training_set"]


def trace(  # noqa: PLR0913  (as in the tracer)
    model: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    mode: Mode = "auto",
    costs: bool = True,
    measure_time: bool = False,
    part: str | None = None,
    cases: Mapping[str, Mapping[str, Any]] | Literal["generate"] | None = None,
    explore: bool = False,
    dims: Mapping[str, Any] | Literal["auto"] | None = None,
    sample: bool = False,
) -> Graph:
    """Run one forward pass of a model and record it, or several.

    If the model raises, the graph ends there, see `Graph.status`. All that the pass changed is restored.

    Args:
        model: A module, or any callable that computes with tensors.
        args: Positional arguments for ``model(...)``. If it fails without any, they are found as in documentation.
        kwargs: Keyword arguments for ``model(...)``.
        mode: How values are computed. ``fake``: only shapes. ``meta``: on the meta device, for parameters there.
            ``real``: with arithmetic. ``auto``: fake, or real if that fails; for parameters on meta, meta or fake.
        costs: Whether to count floating point operations. A trace without misses the operators of C++ extensions.
        measure_time: Whether to measure how long each op takes, in up to ten more passes with real values.
        part: The dotted path of a module to trace as the model, with the arguments of its first call in a pass.
        cases: Several passes in one graph: name → what differs, of `args`, `kwargs`, `mode`, ``training`` (a truth
            value) and ``method``, called in place of ``forward``. ``generate``: those of a model of transformers.
        explore: Whether to add up to 24 passes that take the other side where a tensor's value decided.
        dims: Names of the sizes of inputs, ``{"x": ["B", 3, "H", "W"]}``, or ``auto``; `Graph.sizes` has what follows.
        sample: Whether to read each tensor's values in one more pass, with real ones, for `Graph.samples`; of one case.

    Returns:
        The graph of the pass, or of all cases.

    Raises:
        OptionError: for cases or dims that are not as described.
        ModelDiagramsError: if the tracer fails.
        TypeError: if `model` can't be called, is a module class, or has no parts, or if `args` is not a tuple.
        TargetError: if example inputs can't be made, or a pass does not call the part.
        ValueError: for an unknown mode, and for `measure_time` with a mode that computes no values.
    """
    _check_dims(dims, has_several=cases is not None or explore)
    options: dict[str, Any] = {"costs": costs, "measure_time": measure_time}
    if cases is not None:
        return _trace_cases(model, args, kwargs, cases, part=part, explore=explore, mode=mode, **options)
    if part is not None:
        return _trace_part(model, args, kwargs, part, mode, **options, explore=explore, dims=dims, sample=sample)
    return complete_graph(*_trace_once(model, args, kwargs, mode, **options), explore=explore, dims=dims, sample=sample)


def _check_dims(dims: Any, *, has_several: bool) -> None:
    """Raise an `OptionError` for dims that are not as `trace` describes, or that it can't find."""
    if dims is None:
        return
    if has_several:
        raise OptionError("dims", "a graph of several cases shows numbers; leave one of the two out.")
    try:
        known = dims == AUTO or read_dims(dims)
    except ModelDiagramsError as error:
        raise OptionError("dims", f"{error}.") from error
    if known == OFF:
        raise OptionError("dims", f"expected a map or {AUTO!r}, got {dims!r}; leave it out for numbers.")


def _trace_once(
    model: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None, mode: Mode, **options: bool
) -> tuple[Trace, Target]:
    """The pass, and what was called."""
    found = trace_run(model, args, kwargs, mode, **options)
    if found.graph.status.error is None or args or kwargs or not isinstance(model, nn.Module):
        return found, Target(model=model, args=(*args,), kwargs={**(kwargs or {})}, assumptions=())
    target = _infer_target(model)
    found = record(target, mode, **options)
    assumptions = (*target.assumptions, *found.graph.assumptions)
    return replace(found, graph=msgspec.structs.replace(found.graph, assumptions=assumptions)), target


def _trace_part(
    model: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None, part: str, mode: Mode, **options: Any
) -> Graph:
    """Trace a submodule of the caller's own model, and restore what the model's pass before it changed."""
    check_arguments(model, args, mode, measure_time=options["measure_time"])
    if not isinstance(model, nn.Module):
        raise TypeError(f"expected a module, as only modules have parts, got {model!r}")
    given = Target(model=model, args=(*args,), kwargs={**(kwargs or {})}, assumptions=())
    whole = given if given.args or given.kwargs else _infer_target(model)
    # restored after the part has run: it may need what the model has set before it calls it
    with restored(model, (whole.args, whole.kwargs), ()) as snapshot:
        with Writes(snapshot.before_write):
            found = take_part(whole, part, type(model).__name__)
        return graph_of(found, mode, **options)


def _infer_target(model: nn.Module) -> Target:
    kind = type(model)
    inputs = find_inputs(Built(model, model), Call(model=f"{kind.__module__}.{kind.__qualname__}"), Budget())
    note = inputs.note and inputs.note.replace(WRITE_INPUTS, "give the arguments of one call")
    return Target(
        model=model,
        args=inputs.args,
        kwargs=inputs.kwargs,
        assumptions=inputs.assumptions,
        note=note,
        random_inputs=True,
    )


def _trace_cases(  # noqa: PLR0913  (those of `trace`)
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    cases: Mapping[str, Mapping[str, Any]] | Literal["generate"],
    *,
    part: str | None,
    explore: bool,
    **shared: Any,
) -> Graph:
    """Trace every case of the caller's own model."""
    shared |= {"args": args, "kwargs": kwargs}
    if part is not None:
        raise OptionError("part", "a graph of several cases shows the whole model; leave one of the two out.")
    name = type(model).__name__
    texts: dict[str, str] = {}
    runs: dict[str, tuple[Mode, Callable[[Mode], Trace]]] = {}
    if isinstance(cases, str) and cases == GENERATE:
        for case, found in find_generation_calls(model, shared["args"], dict(shared["kwargs"] or {}), name).items():
            texts[case] = found.text
            call = {**shared, "args": found.args, "kwargs": found.kwargs}
            runs[case] = shared["mode"], partial(_trace_case, model, call, found.entry)
    else:
        for case, own in check_given_cases(cases).items():
            try:
                method = find_method(model, own.get("method"), name)
            except TargetError as error:
                raise TargetError(f"case {case!r}: {error}") from error
            call = {**shared, **own}
            if own.keys() & {"args", "kwargs", "method"} and find_call_problem(
                method or getattr(model, "forward", model), call["args"], dict(call["kwargs"] or {})
            ):
                call |= {"args": (), "kwargs": None, **own}
            texts[case] = _describe(own)
            runs[case] = call["mode"], partial(_trace_case, model, call, method)
    return unite_traces(in_one_mode(runs), texts, explores=explore).graph


def _trace_case(model: Any, call: Mapping[str, Any], entry: Callable[..., Any] | None, mode: Mode) -> Trace:
    @contextmanager
    def prepared() -> Iterator[None]:
        with training_set(model, training=call.get("training")), entered_by(model, entry):
            yield

    with prepared():
        options = {"costs": call["costs"], "measure_time": call["measure_time"]}
        trace, _ = _trace_once(model, call["args"], call["kwargs"], mode, **options)
    return rerun_within(trace, prepared)


def _describe(own: Mapping[str, Any]) -> str:
    """What a caller wrote for a case; tensors by their shapes."""
    shown = pytree.tree_map_only(Tensor, lambda tensor: [*tensor.shape], dict(own))
    text = ", ".join(f"{name}: {value}" for name, value in shown.items())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


@contextmanager
def training_set(model: Any, *, training: bool | None) -> Iterator[None]:
    """Put a model and its modules into a mode for a while; None leaves them as they are."""
    if training is None:
        yield
        return
    if not isinstance(model, nn.Module):
        raise TypeError(f"`training`: expected a module or the name of a class, got {model!r}")
    before = [(module, module.training) for module in model.modules()]
    model.train(training)
    try:
        yield
    finally:
        for module, was_training in before:
            module.training = was_training
