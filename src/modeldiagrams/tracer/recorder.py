"""The recording itself: a torch function mode that writes down every public torch call.

`calls` tells it which module runs; `provenance` which value a tensor holds; `ops` what counts as an op.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from typing import TYPE_CHECKING, Any, TypeAlias

from torch import Tensor
from torch.overrides import TorchFunctionMode

from modeldiagrams.tracer import ops
from modeldiagrams.tracer.here import Here, HereByThread
from modeldiagrams.tracer.internals import alias_of, unseen_by_modes, versions_of, without_wrappers
from modeldiagrams.tracer.outline import outline
from modeldiagrams.tracer.provenance import Provenance, spec_of
from modeldiagrams.tracer.recording import Call, Op, Recording, Site, Source, Spec, Value
from modeldiagrams.tracer.schemas import bind
from modeldiagrams.tracer.sites import site_of
from modeldiagrams.tracer.walk import exchange, tensors_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from modeldiagrams.tracer.source import SourceFinder

__all__ = ["Recorder"]

_OWN_FRAMES = 3
"""`Recorder.observe` and who calls it are this package's, seen from `SourceFinder.here`."""
_Run: TypeAlias = "tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]"


class Recorder(TorchFunctionMode):
    """Writes ops into a `Recording` while it is entered, on every thread that enters it."""

    def __init__(
        self, recording: Recording, finder: SourceFinder, before_write: Callable[[Tensor], None] = lambda _: None
    ) -> None:
        """Get ready to record.

        Args:
            recording: Where to write.
            finder: Tells the line of user code.
            before_write: Is told every tensor that is about to be written in place.
        """
        super().__init__()
        self.recording = recording
        self.provenance = Provenance()
        self.finder = finder
        self._functions: dict[Any, ops.Function] = {}
        self._sites: dict[Any, Site] = {}
        self._before_write = before_write
        self.modes_of_threads: Callable[[], Iterable[Any]] = tuple
        """Is asked which modes another thread than the main one has to enter."""
        self.on_read: Callable[[Recorder, Any, Op], None] = lambda *_: None
        """Is told what leaves torch, and through which op."""
        self.on_initialised: Callable[[Any], None] = lambda _: None
        """Is told a lazy module that was just given its weights."""
        self.strands = itertools.count()
        """Numbers for stretches of work on threads of their own."""
        self.lock = threading.RLock()
        """Held by the thread that makes known what several may meet at the same time."""
        main_stack = [recording.root]
        self.threads = HereByThread(main_stack)
        self.here.stack = main_stack

    @property
    def here(self) -> Here:
        """Where the running thread is."""
        return self.threads.here

    @contextlib.contextmanager
    def on_this_thread(self, *, joins: bool) -> Iterator[bool]:
        """Record on the current thread, unless that is so already.

        Args:
            joins: Whether a thread that is not recorded yet is to be recorded from here on.

        Yields:
            Whether this thread is recorded.
        """
        here = self.here
        if here.is_recording or not joins:
            yield here.is_recording
            return
        here.strand = next(self.strands)
        with self.entered(here):
            yield True

    @contextlib.contextmanager
    def entered(self, here: Here) -> Iterator[None]:
        """Record on the current thread, which is there."""
        here.is_recording = True
        try:
            with contextlib.ExitStack() as scope:
                for mode in self.modes_of_threads() if here.strand else ():
                    scope.enter_context(mode)
                scope.enter_context(self)
                yield
        finally:
            here.is_recording = False

    @contextlib.contextmanager
    def out_of_sight(self) -> Iterator[None]:
        """Record nothing of what runs inside, except modules that are called."""
        here = self.here
        here.paused += 1
        try:
            yield
        finally:
            here.paused -= 1

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        function = self._functions.get(func) or self.describe(func)
        if function.is_metadata or self.threads.here.paused:
            return func(*args, **(kwargs or {}))
        if types and (stand_in := next((kind for kind in types if not issubclass(kind, Tensor)), None)) is not None:
            with self:  # no tensor, but something that holds some: it calls torch with these
                return stand_in.__torch_function__(func, types, args, kwargs or {})  # type: ignore[attr-defined]
        return self.observe(function, func, args, kwargs or {})

    def describe(self, func: Any) -> ops.Function:
        """What is known of a function; remembered."""
        if func not in self._functions:
            self._functions[func] = ops.describe(func)
        return self._functions[func]

    def observe(
        self, function: ops.Function, run: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Run one call and record it if it is an op.

        Returns:
            Its result, with an alias in place of an argument that was handed back unchanged: else what comes after
            could not be told from what came before.
        """
        here = self.threads.here
        steps = self.recording.steps
        tensors: list[Tensor] = []
        given = (*args, *kwargs.values()) if kwargs else args
        place = self.finder.here(here.stack, _OWN_FRAMES, function) or here.place
        key = (function, place, *kwargs, *outline(given, tensors))
        may_write = not function.pure or "out" in kwargs
        versions = versions_of(tensors) if may_write else None
        start = len(steps)
        if function.writes_any or (kwargs and (kwargs.get("inplace") or kwargs.get("max_norm") is not None)):
            self.announce_write(tensors)
        elif function.writes_first or "out" in kwargs:
            self.announce_write([*given[:1], kwargs.get("out")])
        outer, here.flops = here.flops, None
        here.observed += 1
        try:
            result = run(*args, **kwargs)
            flops = here.flops
        except BaseException as error:
            self._fail(error, self._record(self._site(key, function, (run, args, kwargs)), tensors))
            raise
        finally:
            here.observed -= 1
            here.flops = outer
        written = []
        if versions is not None and versions != (now := versions_of(tensors)):
            written = [t for t, before, after in zip(tensors, versions, now, strict=True) if before != after]
        elif function.writes_first and args:
            written = tensors_in(args[0])
        returned = tensors_in(result)
        inside = self._calls_since(start) if function.opaque else ()
        is_told = inside and all(map(self.provenance.values, returned))
        if is_told or not (returned or written or function.reads_values):
            self._note_guesses(None)
            return result
        op = self._record(self._sites.get(key) or self._site(key, function, (run, args, kwargs)), tensors)
        op.flops = flops
        if inside:
            op.feeds += [("", value, "inferred") for call in inside for value in call.outputs.values()]
        if isinstance(result, Tensor) and not written and not function.reads_elsewhere:  # nearly all
            if id(result) in map(id, tensors):
                result = alias_of(result)
            self.output(op, result)
            return result
        return self._bind_results(op, function, result, (returned, written, tensors))

    def _calls_since(self, start: int) -> list[Call]:
        """The modules that an autograd function ran: if it returns what they did, they tell more than one op would.

        Args:
            start: How many steps there were before.
        """
        steps, here = self.recording.steps[start:], self.here
        return [
            step
            for step in steps
            if isinstance(step, Call) and step.holder is here.stack[-1] and step.strand == here.strand
        ]

    def observe_operator(self, operator: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Record an operator that ran out of the function mode's sight."""
        with unseen_by_modes():
            return self.observe(self.describe(operator), operator, args, kwargs)

    def guessed(self, value: Any, reason: str) -> None:
        """A value was assumed while the call that is being observed ran."""
        here = self.threads.here
        here.guesses.append((value, reason))
        if not here.observed:
            self._note_guesses(None)

    def _note_guesses(self, op: Op | None) -> None:
        guesses = self.threads.here.guesses
        self.recording.guesses += [(op, value, reason) for value, reason in guesses]
        guesses.clear()

    def counted(self, run: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, int | None]:
        """Run a call; tells also the floating point operations the net counted in it."""
        here = self.threads.here
        outer, here.flops = here.flops, None
        here.observed += 1
        try:
            result = run(*args, **kwargs)
            return result, here.flops
        finally:
            here.observed -= 1
            here.flops = outer

    def announce_write(self, targets: Sequence[Any]) -> None:
        """Something is about to write to these tensors, or perhaps: what runs out of sight does not say."""
        for tensor in tensors_in(targets):
            self._before_write(without_wrappers(tensor))

    def failed(self, error: BaseException, where: Op | Call) -> None:
        """Remember where an exception was seen first, that is innermost; or the one in whose place it was raised."""
        recording = self.recording
        if recording.error is error:
            return
        if recording.error is None or recording.error not in (error.__cause__, error.__context__):
            recording.failed_at = where
        recording.error = error

    def forgive(self) -> None:
        """The pass ended well: what was raised on the way, the model caught itself."""
        self.recording.error = self.recording.failed_at = None

    def close(self) -> None:
        """The pass is over: what still runs on other threads is recorded no more, and nothing is kept for it."""
        self.recording = Recording(self.recording.root)  # for ops that are running right now
        self.modes_of_threads, self.on_read, self.on_initialised = tuple, lambda *_: None, lambda _: None
        self._before_write = lambda _: None
        self.__class__ = _Closed

    def new_op(self, site: Site) -> Op:
        """Begin the next op in the running module call."""
        here = self.threads.here
        call = here.stack[-1]
        call.is_empty = False
        op = Op(call.new_id(site.short), site, call, here.strand, [], [], [], {})
        self.recording.steps.append(op)
        if here.guesses:
            self._note_guesses(op)
        return op

    def values(self, tensor: Tensor) -> Sequence[Value]:
        """The values a tensor holds; one of unknown origin becomes known as a constant or as a value come back."""
        return self.provenance.values(tensor) or (self._value_of_stranger(tensor),)

    def feed(self, op: Op, place: str, tensor: Tensor) -> None:
        """Let a tensor flow into an op."""
        op.feeds += [(place, value, "inferred" if value.inferred else "data") for value in self.values(tensor)]

    def output(self, op: Op, tensor: Tensor, *, written: bool = False) -> None:
        """Let a tensor come out of an op."""
        value = op.add_output(spec_of(tensor))
        is_new_memory = self.provenance.assign(tensor, value, written=written)
        if is_new_memory and not written:
            op.nbytes += value.spec.nbytes
        elif len(op.feeds) > 1 and not written:  # a view of something whose parts were written one by one
            op.feeds = self.provenance.reaching(tensor, op.feeds)

    def _fail(self, error: BaseException, op: Op) -> None:
        op.failed = True
        self.failed(error, op)

    def _site(self, key: Any, function: ops.Function, ran: _Run) -> Site:
        """What calls that have a key in common share.

        Args:
            key: The function, its line and the outline of its arguments.
            function: What was called.
            ran: As it was called.
        """
        if key not in self._sites:
            run, args, kwargs = ran
            if function.raw == "__deepcopy__":  # the other argument is what was copied before, by address
                args = args[:1]
            self._sites[key] = site_of(function, [*bind(run, args), *kwargs.items()], key[1])
        return self._sites[key]

    def _record(self, site: Site, tensors: Sequence[Tensor]) -> Op:
        """Write down a call with the tensors that go into it."""
        op = self.new_op(site)
        values_of = self.provenance.values
        op.feeds = [
            (place, value, "inferred" if value.inferred else flow)
            for (place, flow), tensor in zip(site.slots, tensors, strict=False)
            if flow is not None
            for value in values_of(tensor) or (self._value_of_stranger(tensor),)
        ]
        if site.takes_values and not tensors:
            self._feed_from_python(op)
        return op

    def _bind_results(
        self, op: Op, function: ops.Function, result: Any, tensors: tuple[list[Tensor], list[Tensor], list[Tensor]]
    ) -> Any:
        """Give every returned and every written tensor its new value."""
        returned, written, given = tensors
        if len(written) == 1 and written[0] is result:  # as `relu_` does
            self._output_written(op, function, result)
            return result
        given_ids = list(map(id, given))
        written_ids = list(map(id, written))
        aliases: dict[int, Tensor] = {}
        if function.raw == "__get__" and (held := self.provenance.values(returned[0])):  # a gradient, and its making
            op.feeds = [("self", value, "data") for value in held]
        for key, tensor in {id(tensor): tensor for tensor in (*returned, *written)}.items():
            if key in written_ids:
                self._output_written(op, function, tensor)
            elif key in given_ids:
                aliases[key] = alias_of(tensor)
                self.output(op, aliases[key])
            else:
                self.output(op, tensor)
        if function.reads_arrays:
            self.here.array_read = op
            self.on_read(self, result, op)
            for tensor in given:
                self.provenance.export(tensor, op)
        return exchange(result, lambda tensor: aliases.get(id(tensor), tensor)) if aliases else result

    def _output_written(self, op: Op, function: ops.Function, tensor: Tensor) -> None:
        if function.replaces:
            # other memory now; nothing that looked into the old one changes
            self.provenance.forget(tensor)
            held = self.provenance.values(tensor)
            op.feeds += [("source", value, "data") for value in held if value not in [feed[1] for feed in op.feeds]]
            self.output(op, tensor)
        else:
            self.output(op, tensor, written=True)

    def _feed_from_python(self, op: Op) -> None:
        """Python numbers became a tensor: values that left torch in this module call are its likely source."""
        read = self.here.array_read
        if read is not None and read.holder is op.holder:
            value = read.add_output(Spec((), "float32", 4))
            value.inferred = True
            op.feeds.append(("", value, "inferred"))

    def origin_of_stranger(self, tensor: Tensor) -> Op | None:
        """The op through which the values of a tensor probably left torch before they came back as this tensor."""
        read = self.provenance.exporter(tensor)
        if read is None and self.here.array_read is not None and self.here.array_read.holder in self.here.stack:
            read = self.here.array_read
        return read

    def _value_of_stranger(self, tensor: Tensor) -> Value:
        """Value of a tensor whose making was not seen."""
        with self.lock:
            if values := self.provenance.values(tensor):  # meanwhile another thread met it
                return values[0]
            read = self.origin_of_stranger(tensor)
            if read is not None:
                value = read.add_output(spec_of(tensor))
                value.inferred = True
            else:
                value = self._constant(tensor)
            self.provenance.assign(tensor, value)
            return value

    def _constant(self, tensor: Tensor) -> Value:
        """A tensor that was there before: of a class, a global variable, or else of unknown origin."""
        call = self.here.stack[-1]
        name = call.class_attribute(tensor) or self.finder.global_name(tensor)
        if name is not None:
            return Source("constant", f"constant:{name}", (name,)).hold(spec_of(tensor))
        maker = ops.CONSTRUCTORS.get(tensor.dtype, "")
        if tensor.grad_fn is None and self.finder.mentions(maker):  # made of Python numbers, which no mode sees
            source = Source("constant", call.new_id(maker), (f"torch.{maker}",))
        else:
            source = Source("constant", call.new_id("constant"), ())
        source.call = call
        return source.hold(spec_of(tensor))


class _Closed(Recorder):
    """A recorder whose pass is over."""

    @property
    def here(self) -> Here:
        return Here([self.recording.root])

    @contextlib.contextmanager
    def entered(self, here: Here) -> Iterator[None]:  # noqa: ARG002 - as the others
        yield

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))
