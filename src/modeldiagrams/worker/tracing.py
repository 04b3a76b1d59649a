"""Answers `Trace` requests: imports the package, makes the model and records a pass. Imports torch, runs user code."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.errors import TargetError
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.options import Call, Limits
from modeldiagrams.target import InputsError, loaded_sources, record, resolve, seeded
from modeldiagrams.target.device import move_to_device
from modeldiagrams.target.locate import locate
from modeldiagrams.target.user_code import failure, loaded_files
from modeldiagrams.worker.dependencies import dependencies
from modeldiagrams.worker.limits import is_out_of_memory, limited, memory_hint
from modeldiagrams.worker.origins import has_case_variant, libraries, public_name, public_names
from modeldiagrams.worker.process_state import State, has_changed, process_state
from modeldiagrams.worker.protocol import Kind, Problem, Refused, SideEffects, Trace, Traced

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.target import Target

__all__ = ["trace", "warm_up"]

_WARM_UP = Trace(call=Call(model="torch.nn.Linear", args=[1, 1], inputs=[1, 1]), limits=Limits(), mode="auto")


def warm_up() -> None:
    """Trace one layer, so that what torch imports and sets at its first trace is no model's side effect."""
    _traced(_WARM_UP)


def trace(request: Trace, log: int) -> Traced | Refused:
    """Record one pass of a model.

    Args:
        request: The model, its inputs, and its limits.
        log: File descriptor for the stack of a model that takes too long.

    Returns:
        The graph, or why there is none.
    """
    before = imported = process_state()
    try:
        with limited(request.limits.seconds, request.limits.gigabytes, log):
            locate(request.call.model)  # first, to separate side effects of the import from those of the model
            imported = process_state()
            answer: Traced | Refused = _traced(request)
    except BaseException as error:  # noqa: BLE001  (models raise what they like, `KeyboardInterrupt` among it)
        answer = Refused(problem=_problem(error, request), sources=loaded_sources(request.call, error))
    side_effects = _side_effects(before, imported, process_state())
    return msgspec.structs.replace(answer, loaded=loaded_files(), side_effects=side_effects)


def _side_effects(before: State, imported: State, after: State) -> SideEffects:
    if has_changed(imported, after):
        return "run"
    return "import" if has_changed(before, imported) else "nothing"


def _traced(request: Trace) -> Traced:
    call = request.call
    target = _on_device(resolve(call, request.limits.device), request)
    with seeded():
        trace = record(target, request.mode)
    assumptions = (*target.assumptions, *trace.graph.assumptions)
    graph = _with_memory_hint(msgspec.structs.replace(trace.graph, assumptions=assumptions), request.limits)
    classes = {type(module) for module in target.model.modules()}
    # factories and functions that make inputs do not run in the pass itself
    named = [call.model, call.inputs_from or ""]
    sources = dependencies(classes, named, trace.sources)
    model = type(target.model)
    name = public_name(model) if locate(call.model) is model else None
    return Traced(
        graph=serialize(graph),
        sources=sources,
        libraries=libraries(classes, named, sources),
        names=public_names(classes),
        name=name,
        has_case_variant=has_case_variant(name or call.model),
        tried=target.tried,
    )


def _on_device(target: Target, request: Trace) -> Target:
    """The target on the requested device. In meta mode the tracer moves the inputs itself: it needs their values."""
    name, device = request.call.model, request.limits.device
    if request.mode == "meta":
        move_to_device("meta", target.model, (), name)
    elif device:
        args, kwargs = move_to_device(device, target.model, (target.args, target.kwargs), name)
        return dataclasses.replace(target, args=args, kwargs=kwargs)
    return target


def _with_memory_hint(graph: Graph, limits: Limits) -> Graph:
    """If the pass ran out of memory, its error names the option."""
    error = graph.status.error
    if error is None or not is_out_of_memory(f"{error.type}: {error.message}"):
        return graph
    error = msgspec.structs.replace(error, message=f"{error.message} {memory_hint(limits.gigabytes)}".strip())
    return msgspec.structs.replace(graph, status=msgspec.structs.replace(graph.status, error=error))


def _problem(error: BaseException, request: Trace) -> Problem:
    known = error if isinstance(error, TargetError) else failure(f"tracing {request.call.model}", error)
    hint = f" {memory_hint(request.limits.gigabytes)}" if is_out_of_memory(str(known)) else ""
    kind: Kind = "inputs" if isinstance(error, InputsError) else "model"
    return Problem(kind=kind, message=f"{known}{hint}", frames=known.frames)
