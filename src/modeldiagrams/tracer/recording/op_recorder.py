"""The recorder: a torch function mode that records every public torch call.

`module_calls` keeps the stack of module calls, `ValueTracker` knows which value a tensor holds, and `Function` decides
what counts as an op. Everything here runs for every op, so one call less makes a trace faster.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from modeldiagrams.tracer.recording import work_limit
from modeldiagrams.tracer.recording.call_sites import call_key, make_call_site
from modeldiagrams.tracer.recording.counting import run_and_count
from modeldiagrams.tracer.recording.endless_loops import Questions
from modeldiagrams.tracer.recording.faults import find_fault
from modeldiagrams.tracer.recording.thread_context import ThreadContext, ThreadContexts
from modeldiagrams.tracer.recording.torch_call import TorchCall
from modeldiagrams.tracer.recording.unknown_tensors import UnknownTensors
from modeldiagrams.tracer.torch_facts.argument_names import bind_arguments
from modeldiagrams.tracer.torch_facts.flops import FREE
from modeldiagrams.tracer.torch_facts.functions import Function, describe_function
from modeldiagrams.tracer.torch_facts.nested_values import map_tensors_in_place, tensors_of
from modeldiagrams.tracer.torch_facts.private_api import alias_of, unseen_by_modes, versions_of, without_wrappers
from modeldiagrams.tracer.values.pass_records import CallSite, Op, PassRecord, Value
from modeldiagrams.tracer.values.scopes import Scopes
from modeldiagrams.tracer.values.value_tracker import ValueTracker, spec_of, usual_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import FrameType

    from modeldiagrams.tracer.values.pass_records import ModuleCall
    from modeldiagrams.tracer.values.scopes import Scope
    from modeldiagrams.tracer.values.source_lines import SourceFinder
    from modeldiagrams.tracer.ways.observer import TraceObserver


class OpRecorder(TorchFunctionMode):
    """Writes ops into a `PassRecord` on every thread that enters it."""

    run_call = staticmethod(run_and_count)  # returns the result and its cost

    def __init__(self, recording: PassRecord, finder: SourceFinder, before_write: Callable[[Tensor], None]) -> None:
        """Record one pass; call `before_write` with every tensor that is about to be written in place."""
        super().__init__()
        self.recording = recording
        self.tracker = ValueTracker()
        self.finder = finder
        finder.values_of = self.tracker.values
        self.threads = ThreadContexts([recording.root])
        self.unknown = UnknownTensors(self.tracker, finder, self.threads)
        self.modes_of_threads: Callable[[], Iterable[Any]] = tuple
        """Returns the modes that a thread other than the main one must enter before it records."""
        self.on_lazy_initialised: Callable[[Any], None] = lambda _: None
        """Called by `CallStack` with a lazy module whose weights were just made."""
        self.counter: Any = None
        """The mode that counts FLOPs, if they are wanted."""
        self.on_value: Callable[[Value, Tensor], None] | None = None
        """Called with each value and the tensor that holds it, if someone wants to read them."""
        self._on_write = before_write
        self._describe = functools.cache(describe_function)
        self._sites: dict[Any, CallSite] = {}
        self._questions = Questions()
        self.watch: TraceObserver | None = None
        """Observes the model's code and is to be paused while other code runs; for `WatchedRecorder`."""
        self.opened: set[str] = set()
        """As `Invocation.opened`."""
        self.is_closed = False
        """The pass is over."""
        self.context.on_main_thread = True

    @property
    def context(self) -> ThreadContext:
        """The context of the running thread."""
        return ThreadContext([self.recording.root]) if self.is_closed else self.threads.context

    @contextlib.contextmanager
    def record_thread(self, context: ThreadContext) -> Iterator[None]:
        """Record on the running thread, with this context."""
        if self.is_closed:
            yield
            return
        context.is_recording = True
        try:
            with contextlib.ExitStack() as scope:
                for mode in () if context.on_main_thread else self.modes_of_threads():
                    scope.enter_context(mode)
                scope.enter_context(self)
                yield
        finally:
            context.is_recording = False
            context.scopes = Scopes()  # holds frames

    @contextlib.contextmanager
    def hide_ops(self) -> Iterator[None]:
        """Record only module calls in the block."""
        context = self.context
        context.paused += 1
        try:
            yield
        finally:
            context.paused -= 1

    def begin_scope(self, name: str) -> Scope | None:
        """Begin a scope that the model names; None where nothing is recorded."""
        context = self.context
        if not context.is_recording:
            return None
        return context.scopes.enter(name, self.finder.current_line(context.stack, context.scopes))

    def close(self) -> None:
        """End the pass: threads that still run are no longer recorded, and nothing is kept for them."""
        self.is_closed = True
        self.recording = PassRecord(self.recording.root)  # ops that are running right now write here
        self.counter = None  # it refers to this recorder; without the cycle, memory is freed at once
        self.modes_of_threads, self.on_lazy_initialised, self._on_write = tuple, lambda _: None, lambda _: None

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        function = self._describe(func)
        if function.is_metadata or self.is_closed or (context := self.threads.context).paused:
            return func(*args, **kwargs) if kwargs else func(*args)
        if work_limit.left is not None:  # seldom
            work_limit.count_call()
        for kind in types:  # none for most
            if kind is not Tensor and not issubclass(kind, Tensor):  # a class that handles calls itself
                with self:
                    return kind.__torch_function__(func, types, args, kwargs or {})  # type: ignore[attr-defined]
        frame = sys._getframe(1)  # noqa: SLF001 (see `SourceFinder`)
        try:
            return self.observe(context, function, func, args, kwargs or {}, frame)
        except Exception as error:
            self.keep_fault(error, context.stack[-1])
            raise

    def observe_operator(self, operator: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Observe an operator that the function mode doesn't see."""
        with unseen_by_modes():
            return self.observe(self.threads.context, self._describe(operator), operator, args, kwargs)

    def observe(  # noqa: PLR0913, PLR0917 - called for every op, and keywords take time
        self,
        context: ThreadContext,
        function: Function,
        run: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        frame: FrameType | None = None,
    ) -> Any:
        """Run a call made in a frame of this thread, record it if it is an op, and return the result.

        An argument that is returned unchanged is replaced by an alias, which distinguishes the tensor after the call
        from the tensor before it.
        """
        if frame is None:
            source = self.finder.current_line(context.stack, context.scopes) or context.source
        else:
            source = self.finder.line_of(frame, context.stack, context.scopes) or context.source
        tensors: list[Tensor] = []
        values = (*args, *kwargs.values()) if kwargs else args
        key = (function, source, *kwargs, *call_key(values, tensors))
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = make_call_site(function, bind_arguments(run, args, kwargs), source)
        scope, call = context.scopes.current, None
        if kwargs or not function.is_plain:  # few
            call = TorchCall(function, site, args, kwargs, tensors, scope)
            self._before_special(call)
        try:
            result, flops = self.run_call(context, self.counter, run, args, kwargs, function.formula)
        except BaseException as error:
            op = self.add_op(context, site, scope, tensors=tensors)
            self.recording.failed.add(op)
            self.recording.fail(error, op)
            raise
        if work_limit.left is not None:  # seldom
            work_limit.count_operations(result, flops)
        if call is None and isinstance(result, Tensor):
            return self._record(context, site, scope, flops, tensors, result)
        call = call or TorchCall(function, site, args, kwargs, tensors, scope)
        return self._after(context, call, result, flops)

    def _record(  # noqa: PLR0913, PLR0917 - called for every op, and keywords take time
        self,
        context: ThreadContext,
        site: CallSite,
        scope: Scope | None,
        flops: int | None,
        tensors: Sequence[Tensor],
        result: Tensor,
    ) -> Tensor:
        """Record a call that only returned a tensor; return the tensor for the model."""
        op = self.add_op(context, site, scope, flops, tensors)
        for tensor in tensors:
            if tensor is result:
                result, _ = run_and_count(context, self.counter, alias_of, (result,), {}, FREE)
                break
        self.add_output(op, result)
        return result

    def _before_special(self, call: TorchCall) -> None:
        """Announce what a call may write."""
        function, kwargs = call.function, call.kwargs
        if not function.pure or "out" in kwargs:
            call.versions = versions_of(call.tensors)
        if function.writes_any or (kwargs and (kwargs.get("inplace") or kwargs.get("max_norm") is not None)):
            for tensor in call.tensors:
                self._on_write(without_wrappers(tensor))
        elif function.writes_first or "out" in kwargs:
            self.before_write([*call.args[:1], *kwargs.values()])

    def _after(self, context: ThreadContext, call: TorchCall, result: Any, flops: int | None) -> Any:
        """Record a call that ran, if it is an op; return its result for the model."""
        function = call.function
        written = call.written() if call.versions is not None or function.writes_first else []
        is_other = written and (len(written) > 1 or written[0] is not result)
        if is_other or function.is_special or not isinstance(result, Tensor):
            return self._after_special(context, call, result, flops, written)
        if not written:
            return self._record(context, call.site, call.scope, flops, call.tensors, result)
        op = self.add_op(context, call.site, call.scope, flops, call.tensors)  # as by `relu_`
        self._output_written(op, function, result)
        return result

    def _after_special(
        self, context: ThreadContext, call: TorchCall, result: Any, flops: int | None, written: list[Tensor]
    ) -> Any:
        """Do the same for calls that write, return no tensor or several, or do more than their arguments say."""
        returned = tensors_of(result)
        if not (returned or written or call.function.reads_values):
            self.recording.add_guesses(None, context.guesses)
            return result
        op = self.add_op(context, call.site, call.scope, flops, call.tensors)
        return self._bind_results(op, call, result, returned, written)

    def on_guess(self, value: Any, reason: str) -> None:
        """Keep a value that was assumed while the observed call ran; raise if a line asks too often."""
        context = self.threads.context
        self._questions.add(context.stack[-1], self.finder.current_line(context.stack), len(self.recording.steps))
        context.guesses.append((value, reason))
        if not context.observed:
            self.recording.add_guesses(None, context.guesses)

    def keep_fault(self, error: BaseException, call: ModuleCall) -> None:
        """Keep an error if it is a fault of the tracer, and the first."""
        if self.recording.fault is None and (fault := find_fault(error)) is not None:
            self.recording.fault = fault, call

    def before_write(self, targets: Sequence[Any]) -> None:
        """Announce that these tensors may be written in place."""
        for tensor in tensors_of(targets):
            self._on_write(without_wrappers(tensor))

    def add_op(
        self,
        context: ThreadContext,
        site: CallSite,
        scope: Scope | None = None,
        cost: Any = None,
        tensors: Sequence[Tensor] = (),
    ) -> Op:
        """Append an op to the running module call, with its scope there and the tensors that go into it."""
        call = context.stack[-1]
        if call.is_empty:  # reading is faster than writing
            call.is_empty = False
        op = Op(call.new_id(site.function.short), site, call, scope, cost)
        self.recording.steps.append(op)
        if context.guesses or not context.on_main_thread:  # few
            self.recording.has_threads |= not context.on_main_thread
            self.recording.add_guesses(op, context.guesses)
        if tensors:
            op.inputs = self.tracker.inputs_of(tensors, site.slots, self.unknown.find_value)
        elif site.function.takes_python_values:
            self.unknown.add_python_input(op)
        return op

    def values(self, tensor: Tensor) -> Sequence[Value]:
        """The values that a tensor holds; a tensor of unknown origin gets a value."""
        return self.tracker.values(tensor) or (self.unknown.find_value(tensor),)

    def add_input(self, op: Op, argument: str, tensor: Tensor) -> None:
        """Add a tensor to the inputs of an op."""
        op.inputs += [(argument, value, "inferred" if value.inferred else "data") for value in self.values(tensor)]

    def add_output(self, op: Op, tensor: Tensor, *, written: bool = False) -> None:
        """Add a tensor to the outputs of an op."""
        try:
            spec = usual_spec(tensor.shape, tensor.dtype)
        except (RuntimeError, TypeError):
            spec = spec_of(tensor)
        outputs = op.outputs
        index = len(outputs)
        value = Value(f"{op.id}:{index}", op, index, spec)
        outputs.append(value)
        if self.on_value is not None:  # seldom
            self.on_value(value, tensor)
        is_new_memory = self.tracker.assign(tensor, value, written=written)
        if written:
            return
        if is_new_memory:
            op.nbytes += spec.nbytes
        elif len(op.inputs) > 1:  # a view of a tensor whose parts were written separately
            op.inputs = self.tracker.keep_visible(tensor, op.inputs)

    def _bind_results(self, op: Op, call: TorchCall, result: Any, returned: list[Tensor], written: list[Tensor]) -> Any:
        """Give every returned and every written tensor a new value; return the result for the model."""
        function = call.function
        given_ids = list(map(id, call.tensors))
        written_ids = list(map(id, written))
        aliases: dict[int, Tensor] = {}
        if function.raw == "__get__" and (held := self.tracker.values(returned[0])):  # a gradient, if recorded
            op.inputs = [("self", value, "data") for value in held]
        for key, tensor in {id(tensor): tensor for tensor in (*returned, *written)}.items():
            if key in written_ids:
                self._output_written(op, function, tensor)
            elif key in given_ids:
                aliases[key] = alias_of(tensor)
                self.add_output(op, aliases[key])
            else:
                self.add_output(op, tensor)
        if function.reads_arrays:
            self.context.array_read = op
            for tensor in call.tensors:
                self.tracker.mark_exported(tensor, op)
        return map_tensors_in_place(result, lambda tensor: aliases.get(id(tensor), tensor)) if aliases else result

    def _output_written(self, op: Op, function: Function, tensor: Tensor) -> None:
        if not function.replaces:
            self.add_output(op, tensor, written=True)
            return
        self.tracker.forget(tensor)  # views of the old memory keep their values
        known = {value for _, value, _ in op.inputs}
        op.inputs += [("source", value, "data") for value in self.tracker.values(tensor) if value not in known]
        self.add_output(op, tensor)
