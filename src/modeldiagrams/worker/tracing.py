"""Answers requests for traces: imports the package, makes and runs the model. Imports torch, and runs user code."""

from __future__ import annotations

import builtins
import dataclasses
import os
import sys
import time
from typing import TYPE_CHECKING

import msgspec
import torch
from torch import nn

from modeldiagrams.common.user_files import is_library
from modeldiagrams.errors import ModelDiagramsError, TargetError
from modeldiagrams.ir.case_texts import AS_TRACED
from modeldiagrams.ir.graph import NamedSizes
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.resolve import InputsError, Target, loaded_sources, record, resolve, seeded
from modeldiagrams.resolve.case_traces import TracedCases, trace_cases
from modeldiagrams.resolve.code.user_code import failure, is_external, is_out_of_memory, loaded_files
from modeldiagrams.resolve.dimensions.probe import AUTO, find_sizes
from modeldiagrams.resolve.exploring import unite_traces
from modeldiagrams.resolve.libraries.public_models import find_models
from modeldiagrams.resolve.sampling import add_samples
from modeldiagrams.resolve.values.device import move_to_device
from modeldiagrams.resolve.values.locate import locate
from modeldiagrams.tracer.decisions.explore import OUT_OF_TIME
from modeldiagrams.worker.dependencies import find_dependencies
from modeldiagrams.worker.limits import explain_memory, limit_process
from modeldiagrams.worker.origins import find_public_name, find_public_names, has_case_variant, list_libraries
from modeldiagrams.worker.process_state import has_changed, process_state
from modeldiagrams.worker.protocol import Kind, ListedModels, Problem, Refused, Traced
from modeldiagrams.worker.read_files import list_read_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.ir.graph import Graph, Status
    from modeldiagrams.options.options import Call, Limits
    from modeldiagrams.tracer import Trace
    from modeldiagrams.worker.protocol import ListModels, ModelRequest, TraceRequest

__all__ = ["list_models", "trace", "warm_up"]

_MANY_MODULES = 100
"""The number of library modules from which their import takes long."""

_SAME_NUMBERS = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41"}
"""Environment that limits computing libraries to instructions of all processors, for equal numbers."""
_NO_NAMES = "Option `dims` names nothing here: a diagram of several passes shows numbers"
_NO_SAMPLES = "Values were not sampled: this is a diagram of several passes"
_THREADS = 2
"""Fixed, because sums depend on the number of threads."""


def warm_up() -> None:
    """TraceRequest a small model to load everything that torch imports at its first trace.

    It is on the meta device, because a real op would start threads, which forks of this process would lack.
    """
    with torch.device("meta"):
        model, inputs = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2), nn.ReLU()), (torch.empty(1, 2),)
    target = Target(model=model, args=inputs, kwargs={}, assumptions=())
    with seeded():  # which imports NumPy's generators
        for mode in ("meta", "fake"):
            serialize(record(target, mode).graph)
    list_libraries([nn.Linear], [], find_dependencies([nn.Linear], [], loaded_files()))


def trace(request: TraceRequest, log: int) -> Traced | Refused:
    """Record one pass of a model.

    Args:
        request: The model, its inputs, and its limits.
        log: The file descriptor for the stack of a model that takes too long.

    Returns:
        The graph, or a refusal.
    """
    start, began = time.time_ns(), time.monotonic()
    if not request.call.measure_time:  # a graph must not depend on the processor, but times do
        os.environ |= _SAME_NUMBERS
        torch.set_num_threads(_THREADS)
    imported: tuple[str, ...] = ()
    try:
        with limit_process(request.limits.seconds, request.limits.gigabytes, log):
            imported = _list_imported(request.call.model)
            answer: Traced | Refused = _trace(request, lambda: began + request.limits.seconds - time.monotonic())
    except BaseException as error:  # noqa: BLE001  (models raise what they like, `KeyboardInterrupt` among it)
        sources = loaded_sources([request.call.model, request.call.inputs_from], error)
        problem = _make_problem(error, request)
        may_differ = is_external(error) or is_out_of_memory(problem.message)
        answer = Refused(problem=problem, sources=sources, may_differ=may_differ)
    return msgspec.structs.replace(answer, sources=(*answer.sources, *list_read_files(start)), imported=imported)


def list_models(request: ListModels, log: int) -> ListedModels | Refused:
    """List the names of models; see `find_models`.

    Args:
        request: The author's words, and limits.
        log: As in `trace`.
    """
    start = time.time_ns()
    try:
        with limit_process(request.limits.seconds, request.limits.gigabytes, log):
            names, problems = find_models(request.of, request.exclude)
            sources = loaded_sources(request.of)
            libraries = list_libraries([], request.of, sources)
    except BaseException as error:  # noqa: BLE001  (as in `trace`)
        return Refused(problem=_make_problem(error, request), sources=loaded_sources(request.of, error))
    sources = tuple(sorted({*sources, *list_read_files(start)}))
    return ListedModels(names=names, problems=problems, sources=sources, libraries=libraries)


def _list_imported(model: str) -> tuple[str, ...]:
    """Return the library modules that the import of a model's package loads, if it pays to load them in advance.

    Not if the import had other effects, because a library may read an environment variable that the package sets.
    """
    known, before = set(sys.modules), process_state()
    locate(model)
    files = {name: getattr(module, "__file__", None) for name, module in list(sys.modules.items()) if name not in known}
    found = tuple(name for name, file in files.items() if isinstance(file, str) and is_library(file))
    return () if len(found) < _MANY_MODULES or has_changed(before, process_state()) else found


def _trace(request: TraceRequest, seconds_left: Callable[[], float]) -> Traced:
    call = request.call
    device = request.limits.device
    traced = (
        trace_cases(call, device, lambda target: _on_device(target, request), seconds_left)
        if call.cases
        else _trace_one(request, seconds_left)
    )
    if isinstance(call.dims, dict) and (call.cases or call.explore):
        traced = dataclasses.replace(traced, graph=_add_note(traced.graph, _NO_NAMES))
    if call.sample and (call.cases or call.explore):
        traced = dataclasses.replace(traced, graph=_add_note(traced.graph, _NO_SAMPLES))
    targets, tried = traced.targets, tuple(line for target in traced.targets for line in target.tried)
    graph = _add_memory_hint(traced.graph, request.limits)
    classes = {type(module) for target in targets for module in target.model.modules()}
    # factories and functions that make inputs do not run in the pass itself
    named = [call.model, call.inputs_from or "", *(own.inputs_from or "" for own, _ in call.case_calls().values())]
    files = (file for target in targets for file in target.sources)
    sources = find_dependencies(classes, named, (*traced.sources, *files))
    model = type(targets[0].model)
    name = find_public_name(model) if locate(call.model) is model else None
    return Traced(
        graph=serialize(graph),
        sources=sources,
        libraries=list_libraries(classes, named, sources),
        names=find_public_names(classes),
        name=name,
        has_case_variant=has_case_variant(name or call.model),
        tried=tried,
        # a variant that was tried before, and needs more memory, would do elsewhere
        may_differ=any(map(_may_differ, (graph.status, *(case.status for case in graph.cases))))
        or any(map(is_out_of_memory, tried)),
    )


def _trace_one(request: TraceRequest, seconds_left: Callable[[], float]) -> TracedCases:
    call = request.call
    target = _on_device(resolve(call, request.limits.device), request)
    if target.note is not None and any(map(is_out_of_memory, target.tried)):
        raise InputsError(f"the search for inputs of {call.model} ran out of memory")
    with seeded():
        trace = record(target, call.mode or "auto", measure_time=bool(call.measure_time))
        sizes = None if call.explore else _find_sizes(trace, target, call)
        united = unite_traces({AS_TRACED: trace}, explores=call.explore, seconds_left=seconds_left)
        graph = united.graph
        if call.sample and not call.explore:
            graph = add_samples(graph, trace, random_inputs=target.random_inputs)
    assumptions = (*target.assumptions, *graph.assumptions)
    graph = msgspec.structs.replace(graph, assumptions=assumptions, sizes=sizes)
    return TracedCases(graph, united.sources, (target,))


def _find_sizes(trace: Trace, target: Target, call: Call) -> NamedSizes | None:
    """Find names as written; if these are wrong, others, so that the diagram stays."""
    try:
        return find_sizes(trace, target, call.dims or AUTO, call.inputs_from)
    except TargetError as error:
        found = find_sizes(trace, target, AUTO) or NamedSizes(sizes={})
        return msgspec.structs.replace(found, mistake=str(error))


def _add_note(graph: Graph, note: str) -> Graph:
    status = msgspec.structs.replace(graph.status, notes=(*graph.status.notes, note))
    return msgspec.structs.replace(graph, status=status)


def _may_differ(status: Status) -> bool:
    """Whether a file, a connection, a limit of memory or time ended the forward, judged by built-in exceptions."""
    error = status.error
    kind = getattr(builtins, error.type, None) if error else None
    is_external = isinstance(kind, type) and issubclass(kind, OSError)
    is_cut = any(note.endswith(OUT_OF_TIME) for note in status.notes)
    return is_external or is_cut or (error is not None and is_out_of_memory(f"{error.type}: {error.message}"))


def _on_device(target: Target, request: TraceRequest) -> Target:
    """Move the target to the requested device. In meta mode, the tracer moves the inputs, because it needs values."""
    name, device = request.call.model, request.limits.device
    if request.call.mode == "meta":
        move_to_device("meta", target.model, (), name)
    elif device:
        args, kwargs = move_to_device(device, target.model, (target.args, target.kwargs), name)
        return dataclasses.replace(target, args=args, kwargs=kwargs)
    return target


def _add_memory_hint(graph: Graph, limits: Limits) -> Graph:
    """Add a hint on the option to the error of a pass that ran out of memory."""
    error = graph.status.error
    if error is None or not is_out_of_memory(f"{error.type}: {error.message}"):
        return graph
    error = msgspec.structs.replace(error, message=f"{error.message} {explain_memory(limits.gigabytes)}".strip())
    return msgspec.structs.replace(graph, status=msgspec.structs.replace(graph.status, error=error))


def _make_problem(error: BaseException, request: ModelRequest) -> Problem:
    if type(error) is ModelDiagramsError:  # a fault of ours
        return Problem(kind="worker", message=str(error))
    known = error if isinstance(error, TargetError) else failure(request.doing, error)
    hint = f" {explain_memory(request.limits.gigabytes)}" if is_out_of_memory(str(known)) else ""
    kind: Kind = "inputs" if isinstance(error, InputsError) else "model"
    return Problem(kind=kind, message=f"{known}{hint}", frames=known.frames)
