"""One forward pass of a model → `Graph`: the pipeline."""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import logging
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from modeldiagrams.graph import Failure, Graph, Guess, Status
from modeldiagrams.tracer.arrays import imports_shown
from modeldiagrams.tracer.caches import fresh_caches
from modeldiagrams.tracer.calls import CallStack, argument_names, named_tensors
from modeldiagrams.tracer.fake import (
    Shadows,
    alike,
    as_fake,
    as_meta,
    put_fake_weights,
    share_with_threads,
)
from modeldiagrams.tracer.finish import build_graph
from modeldiagrams.tracer.interception import intercepted
from modeldiagrams.tracer.internals import classes_of, higher_order_open_to, modules_of, run_uncompiled
from modeldiagrams.tracer.marks import untouched
from modeldiagrams.tracer.nested import nested_alike
from modeldiagrams.tracer.net import Net
from modeldiagrams.tracer.ops import without_addresses
from modeldiagrams.tracer.provenance import spec_of
from modeldiagrams.tracer.recorder import Recorder
from modeldiagrams.tracer.recording import Call, Recording, Source, Value
from modeldiagrams.tracer.scalars import follow_numbers
from modeldiagrams.tracer.settings import modes_left
from modeldiagrams.tracer.source import SourceFinder, user_files
from modeldiagrams.tracer.strands import put_in_order
from modeldiagrams.tracer.surroundings import owners_of
from modeldiagrams.tracer.threads import followed
from modeldiagrams.tracer.walk import find_tensors
from modeldiagrams.tracer.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Mode", "Trace", "trace", "trace_run"]

_MAX_MESSAGE = 2000
_MAX_YIELDED = 1024
_ROOM = 4
"""So many times as deep may a traced call go: a module's takes 3 frames of torch's, and 4 of ours."""
_MOST_ROOM = 12_000
"""But no more frames than so many, unless the program itself allows them: twice as many overflow the usual stack."""

Mode: TypeAlias = Literal["auto", "fake", "meta", "real"]


@dataclass(frozen=True)
class Trace:
    """A graph and the files its making ran."""

    graph: Graph
    sources: tuple[str, ...]
    """Absolute paths of the user's source files, sorted."""


def trace(
    model: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    mode: Mode = "auto",
    costs: bool = True,
) -> Graph:
    """Run one forward pass of a model and record it.

    Never raises for what the model does: a forward that raises gives a graph that ends there, see `Graph.status`.
    Torch, the model, its parameters, buffers, gradients and the random state are afterwards as they were before. So is
    what else the model holds (objects, containers, optimizers, generators of random numbers, modules behind functions),
    what names of its classes and of the Python modules that define them are bound to, and settings of torch and Python.

    Args:
        model: A module, or any callable that computes with tensors.
        args: Positional arguments for ``model(...)``.
        kwargs: Keyword arguments for ``model(...)``.
        mode: How values are computed. ``fake``: shapes only, no arithmetic. ``meta``: as they are, with parameters on
            the meta device. ``real``: for real. ``auto``: meta and then fake where the parameters are on meta, else
            fake, and real where fake fails.
        costs: Whether floating point operations are counted. Without, a trace is faster, but what runs out of torch's
            own sight (C++ extensions) is not seen.

    Returns:
        The graph of the pass.

    Raises:
        TypeError: if `args` is a tensor instead of a tuple.
        ValueError: for an unknown mode.
    """
    graph, _ = _run(model, _given(args, kwargs), mode, costs=costs)
    return graph


def trace_run(
    model: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None, mode: Mode, *, costs: bool = True
) -> Trace:
    """As `trace`, for the worker: tells also which of the user's source files ran.

    Args:
        model: As for `trace`.
        args: As for `trace`.
        kwargs: As for `trace`.
        mode: As for `trace`.
        costs: As for `trace`.
    """
    graph, ran = _run(model, _given(args, kwargs), mode, costs=costs)
    return Trace(graph, user_files(ran))


def _given(args: Sequence[Any], kwargs: Mapping[str, Any] | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(args, Tensor):
        raise TypeError("args: expected a tuple of arguments, got a tensor; write (x,) for a model that takes one")
    return tuple(args), dict(kwargs or {})


def _run(
    model: Any, given: tuple[tuple[Any, ...], dict[str, Any]], mode: Mode, *, costs: bool
) -> tuple[Graph, set[str]]:
    """The graph, and the files that code ran from, of the first way of running that succeeds, or of the last."""
    if mode not in get_args(Mode):
        raise ValueError(f"mode: expected one of {', '.join(get_args(Mode))}, got {mode!r}")
    model = getattr(model, "_orig_mod", model)  # what torch.compile wrapped
    attempts = _attempts(model, mode)
    notes: list[str] = []
    for i, attempt in enumerate(attempts):
        with _no_collection(), _room_for_frames():
            graph, ran = _Pass(model, attempt, costs=costs).run(*given, tuple(notes))
        if graph.status.error is None or i == len(attempts) - 1:
            break
        notes += _fallback_note(attempts[i + 1], graph.status.error)
    return graph, ran


@dataclass(frozen=True)
class _Attempt:
    """One way of running."""

    mode: Literal["fake", "meta", "real"]
    shadows: bool = False
    """Whether small tensors are computed beside the others, and unknown values guessed."""


def _attempts(model: Any, mode: Mode) -> list[_Attempt]:
    """The ways of running to try, in order."""
    ways = {"fake": _Attempt("fake", shadows=True), "real": _Attempt("real")}
    if mode == "meta":
        return [_Attempt("meta"), _Attempt("meta", shadows=True)]
    if mode == "auto" and _is_on_meta(model):
        return [_Attempt("meta"), ways["fake"]]
    return [ways["fake"], ways["real"]] if mode == "auto" else [ways[mode]]


def _is_on_meta(model: Any) -> bool:
    return isinstance(model, nn.Module) and any(p.is_meta for p in model.parameters())


def _fallback_note(following: _Attempt, error: Failure) -> list[str]:
    if following.mode != "real":
        return []
    reason = f"{error.type}: {error.message}".splitlines()[0][:200]
    return [f"Traced with real values, because without them the model raised {reason}"]


class _Pass:
    """One forward pass in one way of running."""

    def __init__(self, model: Any, attempt: _Attempt, *, costs: bool) -> None:
        self._model = model
        self._modules = modules_of(model)
        self._attempt = attempt
        self._costs = costs
        self._recording = Recording(Call("", "", model, None))
        self._finder = SourceFinder(_Pass.run.__code__, CallStack.run.__code__)
        self._weights = Weights()

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any], notes: tuple[str, ...]) -> tuple[Graph, set[str]]:
        """Run it, and put everything back."""
        owners = owners_of(self._model, self._modules)
        with (
            untouched(self._model, self._modules, owners, (args, kwargs)) as keeper,
            fresh_caches(owners),
            contextlib.ExitStack() as scope,
        ):
            recorder = Recorder(self._recording, self._finder, keeper.before_write)
            try:
                modes, args, kwargs = self._prepare(recorder, args, kwargs)
                modes += [Net(recorder)] if self._costs else []
                recorder.modes_of_threads = functools.partial(share_with_threads, modes, threading.get_ident())
                scope.enter_context(higher_order_open_to(type(mode) for mode in modes))
                scope.enter_context(alike() if self._attempt.mode == "fake" else contextlib.nullcontext())
                for mode in modes:
                    scope.enter_context(mode)
                _run_model(recorder, self._weights, self._modules, (self._model, args, kwargs))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - whatever the model does
                recorder.failed(error, self._recording.root)
            else:
                recorder.forgive()
            finally:
                recorder.close()
            put_in_order(self._recording)
            graph = build_graph(self._recording, self._weights, self._status(notes))
            self._recording.release()
        return graph, self._finder.files

    def _prepare(
        self, recorder: Recorder, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], tuple[Any, ...], dict[str, Any]]:
        """The modes that compute, and the inputs as they need them."""
        if self._attempt.mode == "fake":
            fake_mode = FakeTensorMode(allow_non_fake_inputs=True)
            shadows = Shadows(fake_mode, recorder.guessed)
            put_fake_weights(self._model, fake_mode, shadows)
            recorder.on_initialised = functools.partial(put_fake_weights, fake_mode=fake_mode, shadows=shadows)
            return [fake_mode, shadows], as_fake(args, fake_mode, shadows), as_fake(kwargs, fake_mode, shadows)
        if self._attempt.mode == "meta":
            shadows = Shadows(None, recorder.guessed)
            modes = [shadows] if self._attempt.shadows else []
            return modes, as_meta(args, shadows), as_meta(kwargs, shadows)
        return [], args, kwargs

    def _status(self, notes: tuple[str, ...]) -> Status:
        recording, error = self._recording, self._recording.error
        guesses = tuple(
            Guess(node=None if op is None else op.id, value=value, reason=reason)
            for op, value, reason in recording.guesses
        )
        failure = None
        if error is not None:
            where = recording.failed_at
            failure = Failure(
                type=type(error).__qualname__,
                message=without_addresses(_message(error))[:_MAX_MESSAGE],
                node=where.id if where is not None and where is not recording.root else None,
                frames=self._finder.frames(error.__traceback__),
            )
        return Status(
            state="complete" if failure is None else "partial",
            mode=self._attempt.mode,
            error=failure,
            guesses=guesses,
            notes=notes,
        )


def _note_inputs(recorder: Recorder, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    recording = recorder.recording
    seen: dict[int, Value] = {}
    for name, tensor in named_tensors(argument_names(model), args, kwargs, into_objects=True):
        if id(tensor) not in seen:
            source = Source("input", f"input:{name}", (name,))
            seen[id(tensor)] = source.hold(spec_of(tensor))
            recording.inputs.append(source)
            recorder.provenance.assign(tensor, source.value)
        recording.root.inputs[name] = seen[id(tensor)]


def _run_model(
    recorder: Recorder,
    weights: Weights,
    modules: Sequence[tuple[str, nn.Module]],
    call: tuple[Any, tuple[Any, ...], dict[str, Any]],
) -> None:
    """The pass itself: what goes in, what happens, what comes out."""
    model, args, kwargs = call
    calls = CallStack(recorder, weights)
    calls.learn(modules, "")
    recorder.on_read = follow_numbers
    run_uncompiled(modules)
    with contextlib.ExitStack() as scope:
        scope.enter_context(nested_alike(recorder))
        _note_inputs(recorder, model, args, kwargs)
        scope.enter_context(intercepted(calls, classes_of(modules)))
        scope.enter_context(_quiet(logging.getLogger("torch._subclasses.fake_tensor")))
        if "torch._dynamo" in sys.modules:  # else nothing is compiled, and importing it takes seconds
            scope.enter_context(torch.compiler.set_stance("force_eager"))
        scope.enter_context(followed(recorder))
        scope.enter_context(imports_shown(recorder))
        scope.enter_context(recorder.on_this_thread(joins=True))
        scope.enter_context(modes_left())
        result = calls.run_root(model, args, kwargs)
        if isinstance(result, Iterator):  # a forward that yields runs only while it is asked for more
            result = list(itertools.islice(result, _MAX_YIELDED))
    name = "output" if isinstance(result, Tensor) else ""
    # private parts of an object are its own bookkeeping, nothing the model says it returns
    for place, tensor in find_tensors(result, name, into_objects=True, private=False):
        recorder.recording.outputs.append((place, list(recorder.values(tensor))))


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the model's own exception class
        return ""


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """A recording is many small objects, all needed: looking for garbage among them would take most of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def _room_for_frames() -> Iterator[None]:
    """Every call takes frames of this package beside its own: what runs without a trace is to run in one."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, min(_ROOM * limit, _MOST_ROOM)))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


@contextlib.contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Torch logs a traceback for every operator that fails on fake tensors; the graph tells that better."""
    was, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was
