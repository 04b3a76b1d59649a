"""The pipeline: runs one forward pass of a model and builds its `Graph`."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, get_args

import torch
from torch import Tensor, nn

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.check import check_graph
from modeldiagrams.tracer.fake.attempts import Attempt, Mode, attempts_left, attempts_of, is_on_meta, notes_on
from modeldiagrams.tracer.fake.concrete_values import ConcreteValues
from modeldiagrams.tracer.fake.conversion import as_fake, as_meta, put_fake_weights
from modeldiagrams.tracer.fake.data_dependent import fewer_assumed
from modeldiagrams.tracer.graph.assumed_sizes import is_small, mark_assumed, take_costs
from modeldiagrams.tracer.graph.build_graph import build_graph
from modeldiagrams.tracer.graph.measured_times import TimedPass, add_times, explain_missing_times
from modeldiagrams.tracer.graph.pass_ways import PassWays
from modeldiagrams.tracer.graph.status import build_status
from modeldiagrams.tracer.patches.fake_tensors import new_fake_mode, share_fake_modes
from modeldiagrams.tracer.patches.interpreter import compiler_disabled, interpreter_settings
from modeldiagrams.tracer.patches.patch_table import list_patches
from modeldiagrams.tracer.patches.replace import apply_patches
from modeldiagrams.tracer.recording.boundary import record_inputs, record_outputs
from modeldiagrams.tracer.recording.dispatch_recorder import DispatchRecorder
from modeldiagrams.tracer.recording.faults import find_fault
from modeldiagrams.tracer.recording.module_calls import CallStack
from modeldiagrams.tracer.recording.op_recorder import OpRecorder
from modeldiagrams.tracer.recording.timed_recorder import TimedRecorder, accelerators_of
from modeldiagrams.tracer.recording.watched_recorder import WatchedRecorder
from modeldiagrams.tracer.restore import mode_stacks_restored, modules_under_fsdp, restored, sharding_restored
from modeldiagrams.tracer.restore.leftovers import empty_caches, namespaces_of
from modeldiagrams.tracer.values.entry_calls import run_generator
from modeldiagrams.tracer.values.named_tensors import NamedTensors
from modeldiagrams.tracer.values.pass_records import Invocation, ModuleCall, PassRecord
from modeldiagrams.tracer.values.source_lines import SourceFinder, user_files
from modeldiagrams.tracer.values.traced_callables import unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.ways import QuietSide
    from modeldiagrams.tracer.restore.leftovers import Namespace
    from modeldiagrams.tracer.restore.tensor_snapshot import TensorSnapshot

    Prepare: TypeAlias = Callable[[OpRecorder], None]
    """Changes the recorder of a pass before the pass begins."""
    Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]


class Rerun(Protocol):
    """Runs a pass again."""

    def __call__(  # noqa: PLR0913  (one parameter for each choice)
        self,
        prepare: Prepare,
        *,
        assumes_fewer: bool = False,
        assumes_unlike: bool = False,
        knows_inputs: bool = True,
        real: bool = False,
        arguments: Arguments | None = None,
    ) -> tuple[Graph, set[str]]:
        """Return the graph, and the files that ran.

        Args:
            prepare: As `Prepare`.
            assumes_fewer: Whether to assume other sizes.
            assumes_unlike: Whether these differ from each other, too.
            knows_inputs: Whether a pass without values uses those of its inputs.
            real: Whether the pass has real values, whatever the trace had.
            arguments: Those of the function inside the model, see `unwrap`, positional and by name, in place of the
                traced ones; the graph has no ways then.
        """


_R = TypeVar("_R", bound=OpRecorder)
_MAX_NESTED = 8
"""Passes to look into autograd functions inside autograd functions."""


@dataclass(frozen=True)
class Trace:
    """A graph, and the source files that ran."""

    graph: Graph
    sources: tuple[str, ...]
    """Absolute paths of the user's source files, sorted."""
    rerun: Rerun | None = dataclasses.field(default=None, compare=False)
    """Runs the same pass again; None if there was none."""
    quiet: frozenset[QuietSide] = frozenset()
    """Sides that the graph's ways lack because no tensors ran in them: another pass may list them as not taken."""


def trace(  # noqa: PLR0913  (one parameter for each choice)
    model: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    mode: Mode = "auto",
    costs: bool = True,
    measure_time: bool = False,
) -> Graph:
    """Run one forward pass of a model and record it.

    `modeldiagrams.trace`, which also finds inputs for a model that needs some, explains the arguments and what is
    restored.
    """
    return trace_run(model, args, kwargs, mode, costs=costs, measure_time=measure_time).graph


def trace_run(  # noqa: PLR0913  (as `trace`)
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    mode: Mode,
    *,
    costs: bool = True,
    measure_time: bool = False,
) -> Trace:
    """Do what `trace` does, and also list the user's source files that ran. Makes attempts until one succeeds."""
    check_arguments(model, args, mode, measure_time=measure_time)
    invocation = Invocation(*unwrap(model, args, kwargs or {}))
    model = invocation.function
    # FSDP keeps what it gathers, which later passes would use: it gathers no fakes
    mode = "real" if mode == "auto" and modules_under_fsdp(invocation.modules) else mode
    attempts = attempts_of(model, mode, real_first=measure_time)
    notes: list[str] = []
    last: dict[str, tuple[Graph, set[str], Attempt]] = {}
    while True:
        attempt = attempts.pop(0)
        graph, ran = _record(invocation, attempt, tuple(notes), costs=costs)
        last[attempt.mode] = graph, ran, attempt
        error = graph.status.error
        attempts = attempts_left(attempts, attempt, error)
        if error is None or not attempts:
            if error is not None:  # the error of a real pass says most
                graph, ran, attempt = last.get("real", last[attempt.mode])
            elif graph.status.guesses:
                other = dataclasses.replace(attempt, assumes_fewer=True)
                graph = mark_assumed(graph, functools.partial(_record, invocation, other, costs=costs))
                if mode == "auto" and attempt.mode == "fake" and graph.status.assumed_tensors and is_small(graph):
                    other = dataclasses.replace(attempt, mode="real", concrete=False)
                    graph = take_costs(graph, _record(invocation, other, costs=costs)[0])
            graph = _measure_times(graph, invocation, attempt, costs=costs) if measure_time else graph
            rerun = functools.partial(_rerun, invocation, attempt, costs=costs)
            return Trace(graph, user_files(ran), None if error else rerun, frozenset(invocation.quiet))
        notes += notes_on(attempt, attempts[0], error)


def _rerun(  # noqa: PLR0913  (the first two are those of the trace)
    invocation: Invocation,
    attempt: Attempt,
    prepare: Prepare,
    *,
    costs: bool,
    assumes_fewer: bool = False,
    assumes_unlike: bool = False,
    knows_inputs: bool = True,
    real: bool = False,
    arguments: Arguments | None = None,
) -> tuple[Graph, set[str]]:
    """Do what `Rerun` says."""
    if arguments is not None:
        invocation = Invocation(invocation.function, *arguments, opened=invocation.opened)
    attempt = dataclasses.replace(
        attempt, assumes_fewer=assumes_fewer, assumes_unlike=assumes_unlike, knows_inputs=knows_inputs
    )
    if real:
        attempt = dataclasses.replace(attempt, mode="real", concrete=False)
    return _record(invocation, attempt, costs=costs, prepare=prepare, ways=arguments is None)


def _record(  # noqa: PLR0913  (one parameter for each choice)
    invocation: Invocation,
    attempt: Attempt,
    notes: tuple[str, ...] = (),
    *,
    costs: bool,
    prepare: Prepare = lambda _: None,
    ways: bool = True,
) -> tuple[Graph, set[str]]:
    """Run a pass; run it again as long as autograd functions turn out to call modules."""
    for _ in range(_MAX_NESTED):
        n_opened = len(invocation.opened)
        try:
            recorded = _Pass(invocation, attempt, costs=costs, prepare=prepare).record(notes, ways=ways)
        except Exception as error:
            if (fault := find_fault(error)) is None:
                raise
            raise ModelDiagramsError(f"modeldiagrams failed to make a graph: {fault}; please report this") from error
        if len(invocation.opened) == n_opened:
            break
    return recorded


def _measure_times(graph: Graph, invocation: Invocation, attempt: Attempt, *, costs: bool) -> Graph:
    if attempt.mode != "real":
        why = "its parameters are on the meta device" if is_on_meta(invocation.function) else "no real pass succeeded"
        return explain_missing_times(graph, why)
    return add_times(graph, lambda: _Pass(invocation, attempt, costs=costs).measure())


def check_arguments(model: Any, args: Any, mode: Any, *, measure_time: bool) -> None:
    """Raise a `TypeError` or a `ValueError` for arguments that `trace` doesn't take."""
    if isinstance(model, type) and issubclass(model, nn.Module):
        raise TypeError(f"model: expected a model, got the class {model.__name__}; make one of it: {model.__name__}(…)")
    if not callable(model):
        raise TypeError(f"model: expected a model or a function, got {type(model).__name__} {reprlib.repr(model)}")
    if not isinstance(args, list | tuple):
        got = "a tensor" if isinstance(args, Tensor) else type(args).__name__
        raise TypeError(f"args: expected a tuple of arguments, got {got}; write (x,) for a model that takes one")
    if mode not in get_args(Mode):
        raise ValueError(f"mode: expected one of {', '.join(get_args(Mode))}, got {mode!r}")
    if measure_time and mode not in {"auto", "real"}:
        raise ValueError(f"measure_time: expected the mode auto or real, because the mode {mode} computes nothing")


class _Pass:
    """One attempt at a forward pass."""

    def __init__(
        self, invocation: Invocation, attempt: Attempt, *, costs: bool, prepare: Prepare = lambda _: None
    ) -> None:
        self._invocation = invocation
        self._prepare = prepare
        self._attempt = attempt
        self._costs = costs
        self._recording = PassRecord(ModuleCall("", "", invocation.function, None))
        self._finder = SourceFinder(_Pass._run_model.__code__, CallStack.run_function.__code__)
        self._named_tensors = NamedTensors()
        self._ways: PassWays | None = None
        """What the pass left out; None while times are measured, and at other sizes."""

    def record(self, notes: tuple[str, ...], *, ways: bool) -> tuple[Graph, set[str]]:
        """Run the pass, restore everything, and build the graph."""
        self._ways = PassWays() if ways else None
        watch = self._ways.watch if self._ways else None
        with self._run_with(OpRecorder if watch is None else functools.partial(WatchedRecorder, watch)):
            status = build_status(self._recording, self._finder, self._attempt.mode, notes)
            graph = build_graph(self._recording, self._named_tensors, status)
            if self._ways:
                graph = self._ways.add_to(graph, self._recording, self._named_tensors)
                self._invocation.quiet.update(self._ways.quiet())
            check_graph(graph)
        return graph, self._finder.files

    def measure(self) -> TimedPass:
        """Run the pass, restore everything, and return how long its ops took."""
        recording = self._recording
        with self._run_with(functools.partial(TimedRecorder, devices=accelerators_of(self._invocation))) as recorder:
            times = {op: time for op, time in recorder.times.items() if op not in recording.failed}
            problem = None
            if recording.error is not None:
                problem = f"when it ran again, the model raised {type(recording.error).__name__}"
            elif recording.has_threads:
                problem = "several threads ran them at the same time"
            return TimedPass(
                {op.id: op.site.function.name for op in times}, {op.id: time for op, time in times.items()}, problem
            )

    @contextlib.contextmanager
    def _run_with(self, make: Callable[..., _R]) -> Iterator[_R]:
        """Run the pass; the recording lives, and changes stay, until the block ends."""
        model, inputs = self._invocation.function, (self._invocation.args, self._invocation.kwargs)
        modules = self._invocation.modules
        namespaces = namespaces_of(model, modules)
        restoring = restored(model, inputs, namespaces if self._attempt.mode == "fake" else ())
        with interpreter_settings(), restoring as snapshot:
            recorder = make(self._recording, self._finder, snapshot.before_write)
            recorder.opened = self._invocation.opened
            self._prepare(recorder)
            try:
                with sharding_restored(modules):
                    self._keep_error(recorder, snapshot, namespaces)
                    yield recorder
            finally:
                self._recording.release()
                self._named_tensors.release()
                if self._ways is not None:
                    self._ways.release()

    def _keep_error(self, recorder: OpRecorder, snapshot: TensorSnapshot, namespaces: Sequence[Namespace]) -> None:
        try:
            self._run_model(recorder, snapshot, namespaces)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 (the graph shows whatever the model raises)
            recorder.recording.fail(error, self._recording.root)
            recorder.keep_fault(error, self._recording.root)
        else:
            recorder.recording.clear_error()
        finally:
            recorder.close()

    def _run_model(self, recorder: OpRecorder, snapshot: TensorSnapshot, namespaces: Sequence[Namespace]) -> None:
        modules = self._invocation.modules
        with contextlib.ExitStack() as scope:
            if not self._attempt.has_gradients:
                scope.enter_context(torch.no_grad())
            if self._attempt.assumes_fewer:
                scope.enter_context(fewer_assumed(unlike=self._attempt.assumes_unlike))
            modes, invocation = self._prepare_modes(recorder, scope)
            calls = CallStack(recorder, self._named_tensors)
            calls.register(modules, "")
            table = list_patches(calls, modules, modes, snapshot.before_backward)
            undo = scope.enter_context(apply_patches(itertools.chain(table, empty_caches(namespaces))))
            recorder.modes_of_threads = functools.partial(_share_modes, modes, undo)
            for mode in modes:
                scope.enter_context(mode)
            record_inputs(recorder, invocation)
            scope.enter_context(compiler_disabled())
            with recorder.record_thread(recorder.context), mode_stacks_restored(), self._observing(recorder):
                result = run_generator(calls.run_root(invocation.function, invocation.args, invocation.kwargs))
            record_outputs(recorder, result)

    def _observing(self, recorder: OpRecorder) -> AbstractContextManager[None]:
        if self._ways is None:
            return contextlib.nullcontext()
        return self._ways.observing(lambda: recorder.threads.context.stack[-1])

    def _prepare_modes(self, recorder: OpRecorder, scope: contextlib.ExitStack) -> tuple[list[Any], Invocation]:
        """Make the dispatch modes of the pass, the outermost first, and convert the inputs for them."""
        invocation, modes = self._invocation, list[Any]()
        if self._attempt.mode != "real":
            fake_mode = new_fake_mode() if self._attempt.mode == "fake" else None
            values = ConcreteValues(fake_mode, recorder.on_guess)
            scope.callback(values.close)
            if fake_mode is not None:
                put_fakes = functools.partial(put_fake_weights, fake_mode=fake_mode, values=values)
                put_fakes(invocation.function)
                recorder.on_lazy_initialised = put_fakes
                known = values if self._attempt.knows_inputs else None
                convert = functools.partial(as_fake, fake_mode=fake_mode, values=known)
                modes.append(fake_mode)
            else:
                convert = functools.partial(as_meta, values=values)
            invocation = dataclasses.replace(
                invocation, args=convert(invocation.args), kwargs=convert(invocation.kwargs)
            )
            modes += [values] if self._attempt.concrete else []
        if self._costs:
            recorder.counter = DispatchRecorder(recorder)
            modes.append(recorder.counter)
        return modes, invocation


def _share_modes(modes: Sequence[Any], undo: contextlib.ExitStack) -> Sequence[Any]:
    share_fake_modes(undo)
    return modes
