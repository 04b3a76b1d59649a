"""Traces models that a program has already made."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from torch import Tensor, nn
from torch.utils import _pytree as pytree

from modeldiagrams.errors import OptionError
from modeldiagrams.ir.cases import unite_cases
from modeldiagrams.options.cases import GENERATE, LONGEST, check_given_cases
from modeldiagrams.options.options import Call
from modeldiagrams.resolve import Target, find_inputs, graph_of, take_part
from modeldiagrams.resolve.cases import in_one_mode
from modeldiagrams.resolve.generation import find_generation_calls
from modeldiagrams.resolve.inputs.budget import Budget
from modeldiagrams.resolve.parts import Writes, find_method
from modeldiagrams.resolve.strategies.hierarchy import WRITE_INPUTS
from modeldiagrams.resolve.strategies.requests import Built
from modeldiagrams.tracer import check_arguments, entered_by, trace_run
from modeldiagrams.tracer.restore import restored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.tracer import Mode

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
) -> Graph:
    """Run one forward pass of a model and record it, or several.

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
        cases: Name → what is different in this pass: `args`, `kwargs`, `mode`, ``training`` (whether the model is in
            training mode), and ``method`` (the name of what is called in place of ``forward``). ``generate``: the
            passes of a model of transformers that generates. The graph has all of them; `Graph.case` takes one out.

    Returns:
        The graph of the pass, or of all cases.

    Raises:
        OptionError: for cases that are not as described.
        ModelDiagramsError: if the tracer fails where it can't show what it recorded.
        TypeError: if `model` can't be called, is a module class, or has no parts, or if `args` is not a tuple.
        TargetError: if example inputs that the model's class offers can't be made, or a pass does not call the part.
        ValueError: for an unknown mode, and for `measure_time` with a mode that computes no values.
    """
    if cases is not None:
        if part is not None:
            raise OptionError("part", "a diagram of several cases shows the whole model; leave one of them out")
        shared = {"args": args, "kwargs": kwargs, "mode": mode, "costs": costs, "measure_time": measure_time}
        return _trace_cases(model, shared, cases)
    if part is not None:
        check_arguments(model, args, mode, measure_time=measure_time)
        given = Target(model=model, args=(*args,), kwargs={**(kwargs or {})}, assumptions=())
        return _trace_part(given, part, mode, costs=costs, measure_time=measure_time)
    graph = trace_run(model, args, kwargs, mode, costs=costs, measure_time=measure_time).graph
    if graph.status.error is None or args or kwargs or not isinstance(model, nn.Module):
        return graph
    return graph_of(_infer_target(model), mode, costs=costs, measure_time=measure_time)


def _trace_part(given: Target, part: str, mode: Mode, *, costs: bool, measure_time: bool) -> Graph:
    """Trace a submodule of the caller's own model, and restore what the model's pass before it changed."""
    model = given.model
    if not isinstance(model, nn.Module):
        raise TypeError(f"expected a module, as only modules have parts, got {model!r}")
    whole = given if given.args or given.kwargs else _infer_target(model)
    # restored after the part has run: it may need what the model has set before it calls it
    with restored(model, (whole.args, whole.kwargs), ()) as snapshot:
        with Writes(snapshot.before_write):
            found = take_part(whole, part, type(model).__name__)
        return graph_of(found, mode, costs=costs, measure_time=measure_time)


def _infer_target(model: nn.Module) -> Target:
    kind = type(model)
    inputs = find_inputs(Built(model, model), Call(model=f"{kind.__module__}.{kind.__qualname__}"), Budget())
    note = inputs.note and inputs.note.replace(WRITE_INPUTS, "give the arguments of one call")
    return Target(model=model, args=inputs.args, kwargs=inputs.kwargs, assumptions=inputs.assumptions, note=note)


def _trace_cases(
    model: Any, shared: Mapping[str, Any], cases: Mapping[str, Mapping[str, Any]] | Literal["generate"]
) -> Graph:
    """Trace every case of the caller's own model."""
    name = type(model).__name__
    texts: dict[str, str] = {}
    runs: dict[str, tuple[Mode, Callable[[Mode], Graph]]] = {}
    if isinstance(cases, str) and cases == GENERATE:
        for case, found in find_generation_calls(model, shared["args"], dict(shared["kwargs"] or {}), name).items():
            texts[case] = found.text
            call = {**shared, "args": found.args, "kwargs": found.kwargs}
            runs[case] = shared["mode"], partial(_trace_case, model, call, found.entry)
    else:
        for case, own in check_given_cases(cases).items():
            method = find_method(model, own.get("method"), name)
            inputs = {} if method is None and not own.keys() & {"args", "kwargs"} else {"args": (), "kwargs": None}
            call = {**shared, **inputs, **own}
            texts[case] = _describe(own)
            runs[case] = call["mode"], partial(_trace_case, model, call, method)
    return unite_cases(in_one_mode(runs, lambda graph: graph.status), texts)


def _trace_case(model: Any, call: Mapping[str, Any], entry: Callable[..., Any] | None, mode: Mode) -> Graph:
    options = {name: value for name, value in call.items() if name not in {"training", "method"}}
    with training_set(model, training=call.get("training")), entered_by(model, entry):
        return trace(model, **{**options, "mode": mode})


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
