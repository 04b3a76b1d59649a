"""Which module runs: module calls as a true stack, by intercepting calls for the time of one trace.

What is intercepted, and put back whatever happens: calling a module, calling ``forward`` of one of the model's
classes directly, what torch runs out of sight, recorded as one op (a
`torch.autograd.Function`, a scripted function), and the making of lazy modules' weights.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.modules.lazy import LazyModuleMixin

from modeldiagrams.tracer import ops
from modeldiagrams.tracer.internals import (
    APPLY_IS_COMPILED,
    COMPILED_CLASS_METHOD,
    FunctionBase,
    FunctionMeta,
    ScriptFunction,
    SingleLevelFunction,
    alias_of,
    modules_of,
    no_dispatch_modes,
    own_buffers,
    own_parameters,
    unseen_by_modes,
)
from modeldiagrams.tracer.recording import Call, Site
from modeldiagrams.tracer.schemas import positional_names
from modeldiagrams.tracer.walk import find_tensors, substitute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modeldiagrams.tracer.here import Here
    from modeldiagrams.tracer.recorder import Recorder
    from modeldiagrams.tracer.recording import Value
    from modeldiagrams.tracer.weights import Weights

_OWN_FRAMES = 4
"""`CallStack._open` and who calls it are this package's, seen from `SourceFinder.here`."""

__all__ = ["CallStack", "argument_names", "intercepted"]


class CallStack:
    """Opens and closes module calls on the recorder's stack."""

    def __init__(self, recorder: Recorder, weights: Weights) -> None:
        self.recorder = recorder
        self._weights = weights
        self._numbers = {"": 1}
        self._made: dict[str, int] = {}
        """How many modules of a class were made in one that is called so."""
        self._is_root_call = False
        self._names: dict[type, tuple[tuple[str, ...], str | None]] = {}

    def run(
        self,
        module: nn.Module,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        *,
        direct: bool,
    ) -> Any:
        """Run a module inside a call of its own.

        Args:
            module: The module.
            function: What to call with the module and the arguments.
            args: Positional arguments, without the module.
            kwargs: Keyword arguments.
            direct: Whether it is the class's forward function, called without ``__call__``.
        """
        recorder = self.recorder
        if self._is_root_call and module is recorder.recording.root.module:
            self._is_root_call = False
            call = recorder.recording.root
            given = self._named(module, args, kwargs)
            return self._close(call, given, self._forward(call, function, module, args, kwargs))
        here = recorder.threads.here
        call = self._open(here, module)
        call.forward = function if direct else None
        here.stack.append(call)
        paused, here.paused = here.paused, 0
        observed, here.observed = here.observed, 0
        try:
            given = self._named(module, args, kwargs)
            self._note(call.inputs, given)
            return self._close(call, given, self._forward(call, function, module, args, kwargs))
        except BaseException as error:
            recorder.failed(error, call)
            raise
        finally:
            here.stack.pop()
            here.paused, here.observed = paused, observed

    def run_root(self, model: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Run the model itself: its own call is the root, already on the stack."""
        if not isinstance(model, nn.Module):
            return model(*args, **kwargs)
        self._is_root_call = True
        return model(*args, **kwargs)

    def knows(self, module: nn.Module) -> bool:
        """Whether a module belongs to the traced model."""
        return self._weights.path(module) is not None

    def _forward(
        self, call: Call, function: Callable[..., Any], module: nn.Module, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        if not isinstance(module, torch.jit.ScriptModule):
            return function(module, *args, **kwargs)
        with unseen_by_modes():
            self.recorder.announce_write([*module.parameters(), args, kwargs])
        with self.recorder.out_of_sight():
            result, call.unseen_flops = self.recorder.counted(function, (module, *args), kwargs)
        return result

    def _open(self, here: Here, module: nn.Module) -> Call:
        holder = here.stack[-1]
        path = self._weights.path(module)
        if path is None:
            path = self._path_of_new(module, holder)
        number = self._numbers[path] = self._numbers.get(path, 0) + 1
        call = Call(path if number == 1 else f"{path}#{number}", path, module, holder, number)
        call.strand = here.strand
        call.place = self.recorder.finder.here(here.stack, _OWN_FRAMES) or here.place
        holder.is_leaf = False
        outer: Call | None = holder
        while outer is not None and outer.is_empty:
            outer.is_empty = False
            outer = outer.holder
        self.recorder.recording.steps.append(call)
        return call

    def _path_of_new(self, module: nn.Module, holder: Call) -> str:
        """A path for a module that is not the model's: made in the forward, or kept where torch does not look."""
        with self.recorder.lock:  # several threads may meet it
            path = self._weights.path(module)
            if path is None:
                path = f"{holder.path}.{type(module).__name__}" if holder.path else type(module).__name__
                number = self._made[path] = self._made.get(path, 0) + 1
                path = path if number == 1 else f"{path}_{number}"
                self.learn(modules_of(module), path)
        return path

    def learn(self, modules: Sequence[tuple[str, nn.Module]], path: str) -> None:
        """Make the weights of a module and of those in it known under its path."""
        provenance = self.recorder.provenance
        for tensor, source in self._weights.add_modules(modules, path):
            # computed weights that `torch.func.functional_call` puts into a module stay what they are
            if (
                source.kind != "parameter"
                or type(tensor) is nn.Parameter  # asked first: `isinstance` runs code of torch's
                or isinstance(tensor, nn.Parameter)
                or not provenance.values(tensor)
            ):
                provenance.assign(tensor, source.value)

    def initialised(self, module: nn.Module) -> None:
        """A lazy module was given its weights: they are what their names stood for all along."""
        lazy = {**own_parameters(module), **own_buffers(module)}
        self.recorder.on_initialised(module)
        for name, tensor in {**own_parameters(module), **own_buffers(module)}.items():
            source = self._weights.renewed(tensor, lazy[name])
            if source is not None:
                self.recorder.provenance.assign(tensor, source.value)
        self.learn([("", module)], self._weights.path(module) or "")  # it may hold more than before

    def _close(self, call: Call, given: list[tuple[str, Tensor]], result: Any) -> Any:
        returned = [("output", result)] if isinstance(result, Tensor) else find_tensors(result)
        if call.is_empty:
            result, returned = self._record_unseen_work(call, given, result, returned)
        self._note(call.outputs, returned)
        return result

    def _note(self, into: dict[str, Value], named: list[tuple[str, Tensor]]) -> None:
        """Write down which values go into or come out of a call."""
        provenance = self.recorder.provenance
        for name, tensor in named:
            values = provenance.values(tensor)
            if values:
                into[name] = values[0] if len(values) == 1 else _last(values)

    def _named(self, module: nn.Module, args: Sequence[Any], kwargs: dict[str, Any]) -> list[tuple[str, Tensor]]:
        names = self._names.get(type(module))
        if names is None:
            names = self._names[type(module)] = argument_names(module)
        return named_tensors(names, args, kwargs)

    def _record_unseen_work(
        self, call: Call, given: list[tuple[str, Tensor]], result: Any, returned: list[tuple[str, Tensor]]
    ) -> tuple[Any, list[tuple[str, Tensor]]]:
        """Record one op for a module in which nothing was seen but from which tensors come out.

        Either torch ran it out of sight (a scripted module), or it hands on what it was given (`nn.Identity`).
        """
        with unseen_by_modes():
            given_ids = {id(tensor) for _, tensor in given}
            handed_on = {id(tensor): alias_of(tensor) for _, tensor in returned if id(tensor) in given_ids}
            made = [t for _, t in returned if id(t) not in given_ids and not self.recorder.provenance.values(t)]
            if not made and not handed_on:
                return result, returned
            class_ = _class_name(call.module)
            op = self.recorder.new_op(
                Site(
                    class_,
                    class_.rpartition(".")[2],
                    call.place,
                    opaque=bool(made),
                )
            )
            op.flops = call.unseen_flops
            for name, tensor in given:
                if made or id(tensor) in handed_on:
                    self.recorder.feed(op, name, tensor)
            for tensor in (*handed_on.values(), *made):
                self.recorder.output(op, tensor)
            result = substitute(result, lambda tensor: handed_on.get(id(tensor), tensor))
        return result, [(name, handed_on.get(id(tensor), tensor)) for name, tensor in returned]


def _last(values: Sequence[Value]) -> Value:
    """The last of the values that a tensor's parts hold, whichever thread was faster."""
    return max(reversed(values), key=lambda value: getattr(value.origin, "strand", 0))


def argument_names(module: Any) -> tuple[tuple[str, ...], str | None]:
    """Names of the positional arguments of ``module(...)`` and of ``*args`` where it has one."""
    try:
        return positional_names(module.forward if isinstance(module, nn.Module) else module)
    except (TypeError, ValueError):
        return (), "args"


def named_tensors(
    names: tuple[tuple[str, ...], str | None],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    into_objects: bool = False,
) -> list[tuple[str, Tensor]]:
    """The tensors among a call's arguments with their places: ``x``, ``batch.mask``, ``args[0]``."""
    positional, rest = names
    if len(args) == 1 and positional and not kwargs and isinstance(args[0], Tensor):  # most calls of modules
        return [(positional[0], args[0])]
    found: list[tuple[str, Tensor]] = []
    for i, value in enumerate(args):
        name = positional[i] if i < len(positional) else f"{rest or 'args'}[{i - len(positional)}]"
        _find_into(found, value, name, into_objects)
    for name, value in kwargs.items():
        _find_into(found, value, name, into_objects)
    return found


def _find_into(found: list[tuple[str, Tensor]], value: Any, name: str, into_objects: bool) -> None:  # noqa: FBT001
    if isinstance(value, Tensor):
        found.append((name, value))
    elif value is not None and type(value) is not bool:
        found += find_tensors(value, name, into_objects=into_objects)


@contextlib.contextmanager
def intercepted(calls: CallStack, classes: Sequence[type]) -> Iterator[None]:
    """Intercept module calls, direct forward calls and autograd functions, and put everything back.

    Args:
        calls: Is told of the calls.
        classes: Those of the model's modules and their bases.
    """
    with contextlib.ExitStack() as undo:
        # what `__call__` hands over to: to replace a special method of a class costs a walk through all its subclasses
        _replace(undo, nn.Module, "_call_impl", _recording_call(calls, nn.Module.__dict__["_call_impl"]))
        for class_ in filter(_has_forward, classes):
            _replace(undo, class_, "forward", _recording_forward(calls, class_.__dict__["forward"]))
        for class_ in filter(_is_lazy, classes):
            name = "initialize_parameters"
            _replace(undo, class_, name, _hidden_initialisation(calls, class_.__dict__[name]))
        apply = torch.autograd.Function.__dict__["apply"]
        apply = getattr(apply, "__func__", apply)
        _replace(undo, torch.autograd.Function, "apply", classmethod(_recording_apply(calls.recorder, apply)))
        # `cube = Cube.apply`, kept since before the trace, still comes by here
        if APPLY_IS_COMPILED:
            _add(undo, FunctionMeta, "__getattribute__", _recording_lookup(calls.recorder))
        else:
            apply = SingleLevelFunction.__dict__.get("apply") or FunctionBase.__dict__["apply"]
            _add(undo, SingleLevelFunction, "apply", classmethod(_recording_apply(calls.recorder, apply)))
        script_call = ScriptFunction.__call__
        undo.callback(setattr, ScriptFunction, "__call__", script_call)
        ScriptFunction.__call__ = _recording_script(calls.recorder, script_call)
        _add(undo, Tensor, "__init__", _recording_constructor(calls.recorder))
        yield


def _replace(undo: contextlib.ExitStack, owner: type, name: str, replacement: Any) -> None:
    undo.callback(setattr, owner, name, owner.__dict__[name])
    setattr(owner, name, replacement)


def _add(undo: contextlib.ExitStack, owner: type, name: str, addition: Any) -> None:
    """As `_replace`, for what a class inherits; the forward of one traced model may trace another."""
    if name in owner.__dict__:
        _replace(undo, owner, name, addition)
    else:
        undo.callback(delattr, owner, name)
        setattr(owner, name, addition)


def _recording_call(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    recorder = calls.recorder

    @functools.wraps(original)
    def call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        here = recorder.threads.here
        if here.observed and isinstance(self, torch.fx.GraphModule) and not calls.knows(self):
            return original(self, *args, **kwargs)  # made by torch of what a higher-order operator is to run
        if here.is_recording:
            return calls.run(self, original, args, kwargs, direct=False)
        with recorder.on_this_thread(joins=calls.knows(self)) as is_recording:
            if is_recording:
                return calls.run(self, original, args, kwargs, direct=False)
        return original(self, *args, **kwargs)

    return call


def _recording_forward(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    recorder = calls.recorder

    @functools.wraps(original)
    def forward(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        here = recorder.threads.here
        if not here.is_recording:
            return original(self, *args, **kwargs)
        top = here.stack[-1]
        # the same module on top: its own forward, reached through __call__, or its base class's through super()
        if top.module is self and top.forward is not original:
            top.forward = top.forward or original
            return original(self, *args, **kwargs)
        return calls.run(self, original, args, kwargs, direct=True)

    return forward


def _hidden_initialisation(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    """What a lazy module does once, the first time it runs, is no part of what it computes."""

    @functools.wraps(original)
    def initialize_parameters(self: nn.Module, *args: Any, **kwargs: Any) -> None:
        with calls.recorder.out_of_sight(), no_dispatch_modes():  # to fakes, weights cannot be given their shape
            original(self, *args, **kwargs)
            calls.initialised(self)

    return initialize_parameters


def _recording_apply(recorder: Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    def apply(cls: type, *args: Any, **kwargs: Any) -> Any:
        if not recorder.here.is_in_the_open or _runs_modules(cls):
            return original(cls, *args, **kwargs)
        run = original.__get__(None, cls) if isinstance(original, COMPILED_CLASS_METHOD) else partial(original, cls)
        with recorder.out_of_sight():
            return recorder.observe(_function_of(cls), run, args, kwargs)

    return apply


def _recording_lookup(recorder: Recorder) -> Callable[..., Any]:
    """A compiled ``apply`` is out of sight, but looks up the function's ``forward`` to run it."""
    original = FunctionMeta.__getattribute__

    def __getattribute__(cls: type, name: str) -> Any:  # noqa: N807
        found = original(cls, name)
        if name != "forward" or not recorder.here.is_in_the_open or _runs_modules(cls):
            return found

        @functools.wraps(found)
        def forward(*args: Any, **kwargs: Any) -> Any:
            n_own = int(isinstance(args[0], FunctionBase)) if args else 0  # the context, where it is given one
            with recorder.out_of_sight():
                return recorder.observe(_function_of(cls), partial(found, *args[:n_own]), args[n_own:], kwargs)

        return forward

    return __getattribute__


def _function_of(class_: type) -> ops.Function:
    return ops.Function(class_.__name__, class_.__name__, class_.__name__, writes_any=True, opaque=True)


def _runs_modules(class_: type) -> bool:
    return class_.__module__ == "torch.utils.checkpoint"  # look inside


def _recording_script(recorder: Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        here = recorder.here
        if not here.is_in_the_open:
            return original(self, *args, **kwargs)
        name = str(self.name)
        with recorder.out_of_sight():
            run = partial(original, self)
            return recorder.observe(ops.Function(name, name, name, writes_any=True, opaque=True), run, args, kwargs)

    return __call__


def _recording_constructor(recorder: Recorder) -> Callable[..., Any]:
    """``torch.Tensor([1, 2])`` makes its tensor out of every mode's sight, but then calls this."""
    function = ops.Function("torch.Tensor", "Tensor", "Tensor")

    def __init__(self: Tensor, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        if type(self) is Tensor and recorder.here.is_in_the_open:
            with unseen_by_modes():
                if not recorder.provenance.values(self):
                    recorder.observe(function, lambda *_, **__: self, args, kwargs)

    return __init__


def _has_forward(class_: type) -> bool:
    """Whether a class of modules defines a forward of its own."""
    return (
        issubclass(class_, nn.Module)
        and not issubclass(class_, torch.jit.ScriptModule)
        and inspect.isfunction(class_.__dict__.get("forward"))
    )


def _is_lazy(class_: type) -> bool:
    """Whether a class of lazy modules says itself how their weights are made."""
    return issubclass(class_, LazyModuleMixin) and inspect.isfunction(class_.__dict__.get("initialize_parameters"))


def _class_name(module: Any) -> str:
    name = getattr(module, "original_name", None)
    if isinstance(module, torch.jit.ScriptModule) and isinstance(name, str):
        return name
    return f"{type(module).__module__}.{type(module).__qualname__}"
