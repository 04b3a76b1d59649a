"""Which module runs: module calls as a true stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from modeldiagrams.tracer.internals import (
    alias_of,
    modules_of,
    own_buffers,
    own_modules,
    own_parameters,
    unseen_by_modes,
)
from modeldiagrams.tracer.recording import Call, Site
from modeldiagrams.tracer.schemas import positional_names
from modeldiagrams.tracer.walk import exchange, find_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modeldiagrams.tracer.here import Here
    from modeldiagrams.tracer.recorder import Recorder
    from modeldiagrams.tracer.recording import Value
    from modeldiagrams.tracer.weights import Weights

_OWN_FRAMES = 4
"""`CallStack._open` and who calls it are this package's, seen from `SourceFinder.here`."""

__all__ = ["CallStack", "argument_names", "named_tensors"]


class CallStack:
    """Opens and closes module calls on the recorder's stack."""

    def __init__(self, recorder: Recorder, weights: Weights) -> None:
        self.recorder = recorder
        self._weights = weights
        self._numbers = {"": 1}
        self._made: dict[str, int] = {}
        """Path of a module that was made in the forward → the last number given to others after it."""
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
                path = self._free_path(module, holder)
                self.learn(modules_of(module), path)
            return path

    def _free_path(self, module: nn.Module, holder: Call) -> str:
        first = f"{holder.path}.{type(module).__name__}" if holder.path else type(module).__name__
        held = own_modules(holder.module) if isinstance(holder.module, nn.Module) else ()
        number = self._made.get(first, 0) + 1
        path = first if number == 1 else f"{first}_{number}"
        while path in self._made or path.rpartition(".")[2] in held:
            number += 1
            path = f"{first}_{number}"
        self._made[first] = number
        self._made.setdefault(path, 1)
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
            op = self.recorder.new_op(Site(class_, class_.rpartition(".")[2], call.place, opaque=bool(made)))
            op.flops = call.unseen_flops
            for name, tensor in given:
                if made or id(tensor) in handed_on:
                    self.recorder.feed(op, name, tensor)
            for tensor in (*handed_on.values(), *made):
                self.recorder.output(op, tensor)
            result = exchange(result, lambda tensor: handed_on.get(id(tensor), tensor))
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


def _class_name(module: Any) -> str:
    name = getattr(module, "original_name", None)
    if isinstance(module, torch.jit.ScriptModule) and isinstance(name, str):
        return name
    return f"{type(module).__module__}.{type(module).__qualname__}"
