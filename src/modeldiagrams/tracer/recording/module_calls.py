"""The stack of module calls."""

from __future__ import annotations

import sys
import threading
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from modeldiagrams.common.class_facts import get_full_name, name_of
from modeldiagrams.ir.ids import escape_id
from modeldiagrams.tracer.torch_facts.argument_names import positional_names
from modeldiagrams.tracer.torch_facts.functions import Function
from modeldiagrams.tracer.torch_facts.nested_values import find_tensors, map_tensors_in_place, number_paths
from modeldiagrams.tracer.torch_facts.private_api import (
    CALL_IMPLEMENTATION,
    alias_of,
    has_hooks,
    modules_of,
    own_buffers,
    own_modules,
    own_parameters,
    unseen_by_modes,
)
from modeldiagrams.tracer.values.entry_calls import is_entered
from modeldiagrams.tracer.values.pass_records import CallSite, ModuleCall
from modeldiagrams.tracer.values.return_names import apply_return_names
from modeldiagrams.tracer.values.scopes import Scopes
from modeldiagrams.tracer.ways.observer import ignore_event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType, FrameType

    from modeldiagrams.tracer.recording.op_recorder import OpRecorder
    from modeldiagrams.tracer.recording.thread_context import ThreadContext
    from modeldiagrams.tracer.values.named_tensors import NamedTensors
    from modeldiagrams.tracer.values.pass_records import Value


class CallStack:
    """Opens and closes module calls on the stack of the running thread."""

    def __init__(self, recorder: OpRecorder, weights: NamedTensors) -> None:
        self.recorder = recorder
        self._weights = weights
        self._paths = weights.paths
        recorder.unknown.find_weight = weights.find
        self._values_of = recorder.tracker.values
        self._numbers = {"": 1}
        self._own_path = ""
        """Path of a module that one of its methods calls, if the method is the model."""
        self._made: dict[str, int] = {}
        """Path of a module made during the forward → the last number appended to it."""
        self._is_root_call = False
        self._lock = threading.RLock()
        """Held while a module gets a path, because several threads may call the same module."""
        self._facts: dict[type, tuple[tuple[tuple[str, ...], str | None], bool]] = {}
        """Module class → names of its arguments, and whether it is scripted."""
        self.recorded_forward: CodeType | None = None
        """The code of the function that replaces each ``forward``."""

    def run(  # noqa: PLR0913, PLR0917 - called for every module, and keywords take time
        self,
        context: ThreadContext,
        module: nn.Module,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        frame: FrameType,
        forward: Callable[..., Any] | None = None,
    ) -> Any:
        """Run a function of a module as a module call made in a frame of this thread.

        `forward` is given if it is called directly, without ``__call__``.
        """
        recorder = self.recorder
        if module is recorder.recording.root.module:
            if self._is_root_call:
                self._is_root_call = False
                return self.run_function(recorder.recording.root, function, args, kwargs)
            if is_entered(module) and context.stack[-1] is recorder.recording.root:
                return function(module, *args, **kwargs)  # the method that is traced calls its own module
        watch = recorder.watch
        watched = watch is not None and sys.gettrace() is ignore_event
        if watched:
            sys.settrace(None)
        call = self._open(context, module, frame, forward)
        context.stack.append(call)
        scopes, context.scopes = context.scopes, Scopes()
        paused, context.paused = context.paused, 0
        observed, context.observed = context.observed, 0
        try:
            return self.run_function(call, function, args, kwargs)
        except BaseException as error:
            recorder.recording.fail(error, call)
            recorder.keep_fault(error, call)
            raise
        finally:
            context.stack.pop()
            context.scopes, context.paused, context.observed = scopes, paused, observed
            if watched and sys.gettrace() is None:
                watch.resume(*watch.resumed)  # type: ignore[union-attr]

    def run_root(self, model: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Run the model, whose module call is already on the stack: the root."""
        self._is_root_call = isinstance(model, nn.Module)
        return model(*args, **kwargs)

    def knows(self, module: nn.Module) -> bool:
        """Whether a module belongs to the traced model."""
        return id(module) in self._paths

    def run_function(
        self, call: ModuleCall, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Run a function of a module whose call is already on the stack; record what goes in and comes out."""
        module = call.module
        facts = self._facts.get(type(module))
        if facts is None:
            facts = argument_names(module), issubclass(type(module), torch.jit.ScriptModule)
            self._facts[type(module)] = facts
        names, is_scripted = facts
        given = find_tensor_arguments(names, args, kwargs)
        if call.parent is not None:  # the root's inputs are the graph's
            self._set_values(call.inputs, given)
        if is_scripted:
            return self._close(call, given, self._run_scripted(call, function, args, kwargs))
        if function is CALL_IMPLEMENTATION and not has_hooks(module):  # then `__call__` only looks up the forward
            forward = module.forward
            own = forward.__func__ if type(forward) is MethodType and forward.__self__ is module else None
            if type(own) is FunctionType and own.__code__ is self.recorded_forward:
                call.forward = function = own.__wrapped__  # type: ignore[attr-defined]
        watch = self.recorder.watch
        if watch is None or sys.gettrace() not in {None, ignore_event}:  # a debugger that the model has started
            return self._close(call, given, function(module, *args, **kwargs))
        watch.begin(function)
        try:
            result = function(module, *args, **kwargs)
        finally:
            if sys.gettrace() is ignore_event:
                sys.settrace(None)
            watch.raise_pending()
        return self._close(call, given, result)

    def _run_scripted(
        self, call: ModuleCall, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        recorder, module = self.recorder, call.module
        with unseen_by_modes():
            recorder.before_write([*module.parameters(), args, kwargs])
        with recorder.hide_ops():
            context = recorder.threads.context
            result, call.unseen_cost = recorder.run_call(
                context, recorder.counter, function, (module, *args), kwargs, None
            )
        return result

    def _open(
        self, context: ThreadContext, module: nn.Module, frame: FrameType, forward: Callable[..., Any] | None
    ) -> ModuleCall:
        parent = context.stack[-1]
        known = self._paths.get(id(module))
        path = known[1] if known is not None else self._register_unknown(module, parent)
        if not path and module is not self.recorder.recording.root.module:  # a method calls its own module
            path = self._own_path = self._own_path or self._free_path(module, parent)
        number = self._numbers[path] = self._numbers.get(path, 0) + 1
        id_ = escape_id(path) if number == 1 else f"{escape_id(path)}#{number}"
        source = self.recorder.finder.line_of(frame, context.stack, context.scopes) or context.source
        call = ModuleCall(id_, path, module, parent, number, source, context.scopes.current, forward)
        parent.is_leaf = parent.is_empty = False
        self.recorder.recording.steps.append(call)
        return call

    def _register_unknown(self, module: nn.Module, parent: ModuleCall) -> str:
        """Register a module that the model doesn't register (made during the forward, or in a plain list); its path."""
        with self._lock:
            if id(module) not in self._paths:
                self.register(modules_of(module), self._free_path(module, parent))
            return self._paths[id(module)][1]

    def _free_path(self, module: nn.Module, parent: ModuleCall) -> str:
        name = name_of(type(module))
        first = f"{parent.path}.{name}" if parent.path else name
        held = own_modules(parent.module) if isinstance(parent.module, nn.Module) else ()
        number = self._made.get(first, 0) + 1
        path = first if number == 1 else f"{first}_{number}"
        while path in self._made or path.rpartition(".")[2] in held:
            number += 1
            path = f"{first}_{number}"
        self._made[first] = number
        self._made.setdefault(path, 1)
        return path

    def register(self, modules: Sequence[tuple[str, nn.Module]], path: str) -> None:
        """Register modules under a path, and the values of their weights."""
        provenance = self.recorder.tracker
        for tensor, source in self._weights.add_modules(modules, path):
            # computed weights that `torch.func.functional_call` puts into a module keep their values
            if (
                source.kind != "parameter"
                or type(tensor) is nn.Parameter  # faster than `isinstance`, which torch overrides
                or isinstance(tensor, nn.Parameter)
                or not provenance.values(tensor)
            ):
                provenance.assign(tensor, source.outputs[0])

    def on_lazy_initialised(self, module: nn.Module) -> None:
        """Give the new weights of a lazy module the values of its uninitialised ones."""
        lazy = {**own_parameters(module), **own_buffers(module)}
        self.recorder.on_lazy_initialised(module)
        for name, tensor in {**own_parameters(module), **own_buffers(module)}.items():
            source = self._weights.find_lazy_weight(tensor, lazy[name])
            if source is not None:
                self.recorder.tracker.assign(tensor, source.value)
        known = self._paths.get(id(module))
        self.register([("", module)], known[1] if known is not None else "")  # it may have new weights

    def _close(self, call: ModuleCall, given: list[tuple[str, Tensor]], result: Any) -> Any:
        if self.recorder.is_closed:  # a thread outlived the pass, and its tensors are not in the graph
            return result
        if isinstance(result, Tensor):
            returned = [("output", result)]
        else:
            returned = apply_return_names(call.module, result, find_tensors(result))
        if call.is_empty:
            result, returned = self._record_as_one_op(call, given, result, returned)
        self._set_values(call.outputs, returned)
        return result

    def _set_values(self, into: dict[str, Value], named: list[tuple[str, Tensor]]) -> None:
        """Record the values that go into or come out of a call."""
        values_of = self._values_of
        for name, tensor in named:
            if values := values_of(tensor):
                into[name] = values[-1]

    def _record_as_one_op(
        self, call: ModuleCall, given: list[tuple[str, Tensor]], result: Any, returned: list[tuple[str, Tensor]]
    ) -> tuple[Any, list[tuple[str, Tensor]]]:
        """Record one op for a module that returns tensors although no op was recorded inside.

        Either its ops are hidden (a scripted module), or it returns its inputs (`nn.Identity`).
        """
        with unseen_by_modes():
            given_ids = {id(tensor) for _, tensor in given}
            passed_on = {id(tensor): alias_of(tensor) for _, tensor in returned if id(tensor) in given_ids}
            made = [t for _, t in returned if id(t) not in given_ids and not self.recorder.tracker.values(t)]
            if not made and not passed_on:
                return result, returned
            class_ = _class_name(call.module)
            function = Function(class_, class_.rpartition(".")[2], "", opaque=bool(made))
            context = self.recorder.threads.context
            op = self.recorder.add_op(context, CallSite(function, call.source), cost=call.unseen_cost)
            for name, tensor in given:
                if made or id(tensor) in passed_on:
                    self.recorder.add_input(op, name, tensor)
            for tensor in (*passed_on.values(), *made):
                self.recorder.add_output(op, tensor)
            result = map_tensors_in_place(result, lambda tensor: passed_on.get(id(tensor), tensor))
        return result, [(name, passed_on.get(id(tensor), tensor)) for name, tensor in returned]


def argument_names(module: Any) -> tuple[tuple[str, ...], str | None]:
    """Names of the positional arguments of ``module(...)``, and of ``*args`` if there is one."""
    try:
        return positional_names(module.forward if isinstance(module, nn.Module) else module)
    except (TypeError, ValueError):
        return (), "args"


def find_tensor_arguments(
    names: tuple[tuple[str, ...], str | None],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    into_objects: bool = False,
) -> list[tuple[str, Tensor]]:
    """The tensors among a call's arguments with their paths: ``x``, ``batch.mask``, ``args[0]``."""
    positional, rest = names
    if len(args) == 1 and positional and not kwargs and isinstance(args[0], Tensor):  # most module calls
        return [(positional[0], args[0])]
    named = [
        (positional[i] if i < len(positional) else f"{rest or 'args'}[{i - len(positional)}]", value)
        for i, value in enumerate(args)
    ]
    found: list[tuple[str, Tensor]] = []
    for name, value in (*named, *kwargs.items()):
        if isinstance(value, Tensor):
            found.append((name, value))
        elif value is not None and type(value) is not bool:
            found += find_tensors(value, name, into_objects=into_objects)
    return number_paths(found)


def _class_name(module: Any) -> str:
    name = getattr(module, "original_name", None)
    if isinstance(module, torch.jit.ScriptModule) and isinstance(name, str):
        return name
    return get_full_name(type(module))
