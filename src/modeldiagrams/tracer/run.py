"""One forward pass of a model → `Graph`: the pipeline."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import torch
from torch import Tensor, nn

from modeldiagrams.graph import Failure, Graph, Status
from modeldiagrams.tracer.calls import CallStack, argument_names, intercepted, named_tensors
from modeldiagrams.tracer.finish import build_graph
from modeldiagrams.tracer.provenance import spec_of
from modeldiagrams.tracer.recorder import Recorder
from modeldiagrams.tracer.recording import Call, Recording, Source, Value
from modeldiagrams.tracer.source import SourceFinder
from modeldiagrams.tracer.walk import find_tensors
from modeldiagrams.tracer.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Mode", "Trace", "trace", "trace_run"]

Mode: TypeAlias = Literal["auto", "fake", "meta", "real"]


@dataclass(frozen=True)
class Trace:
    """A graph and the files its making depended on."""

    graph: Graph
    sources: tuple[str, ...]
    """Absolute paths of the user's source files, sorted."""


def trace(model: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, *, mode: Mode = "auto") -> Graph:
    """Run one forward pass of a model and record it.

    Never raises for what the model does: a forward that raises gives a graph that ends there, see `Graph.status`.
    Torch, the model, its parameters, buffers, gradients and the random state are afterwards as they were before.

    Args:
        model: A module, or any callable that computes with tensors.
        args: Positional arguments for ``model(...)``.
        kwargs: Keyword arguments for ``model(...)``.
        mode: How values are computed. ``fake``: shapes only, no arithmetic. ``meta``: as they are, with parameters on
            the meta device. ``real``: for real. ``auto``: meta where the parameters are on meta, else fake, and real
            where fake fails.

    Returns:
        The graph of the pass.
    """
    return trace_run(model, args, kwargs, mode).graph


def trace_run(model: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None, mode: Mode) -> Trace:
    """As `trace`, for the worker: tells also which source files the trace depended on."""
    return _trace_once(model, tuple(args), dict(kwargs or {}), "meta" if _is_on_meta(model) else "real")


def _is_on_meta(model: Any) -> bool:
    return isinstance(model, nn.Module) and any(p.is_meta for p in model.parameters())


def _trace_once(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], mode: Literal["fake", "meta", "real"]) -> Trace:
    recording = Recording(Call("", "", model, None))
    finder = SourceFinder(_run.__code__)
    weights = Weights()
    recorder = Recorder(recording, finder)
    calls = CallStack(recorder, weights)
    if isinstance(model, nn.Module):
        calls.learn(model, "")
    _note_inputs(recorder, model, args, kwargs)
    result = _run(calls, model, args, kwargs)
    _note_outputs(recorder, result)
    graph = build_graph(recording, weights, _status(recording, finder, mode))
    return Trace(graph, ())


def _note_inputs(recorder: Recorder, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    recording = recorder.recording
    seen: dict[int, Value] = {}
    for name, tensor in named_tensors(argument_names(model), args, kwargs, into_objects=True):
        if id(tensor) not in seen:
            source = Source("input", f"input:{name}", (name,))
            source.value = Value(source, 0, *spec_of(tensor))
            recording.inputs.append(source)
            recorder.provenance.assign(tensor, source.value)
            seen[id(tensor)] = source.value
        recording.root.inputs[name] = seen[id(tensor)]


def _run(calls: CallStack, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The pass itself; what the model raises is in the recording."""
    recorder = calls.recorder
    with contextlib.ExitStack() as scope:
        scope.enter_context(intercepted(calls, model))
        if "torch._dynamo" in sys.modules:  # else nothing is compiled, and importing it takes seconds
            scope.enter_context(torch.compiler.set_stance("force_eager"))
        scope.enter_context(recorder.on_this_thread(joins=True))
        try:
            return calls.run_root(model, args, kwargs)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the model does
            recorder.failed(error, recorder.recording.root)
            return None
    return None


def _note_outputs(recorder: Recorder, result: Any) -> None:
    if recorder.recording.error is not None:
        return
    name = "output" if isinstance(result, Tensor) else ""
    for place, tensor in find_tensors(result, name, into_objects=True):
        recorder.recording.outputs.append((place, list(recorder.values(tensor))))


def _status(recording: Recording, finder: SourceFinder, mode: Literal["fake", "meta", "real"]) -> Status:
    error = recording.error
    if error is None:
        return Status(state="complete", mode=mode)
    where = recording.failed_at
    failure = Failure(
        type=type(error).__qualname__,
        message=str(error)[:2000],
        node=where.id if where is not None and where is not recording.root else None,
        frames=finder.frames(error.__traceback__),
    )
    return Status(state="partial", mode=mode, error=failure)
