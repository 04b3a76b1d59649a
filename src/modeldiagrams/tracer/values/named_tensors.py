"""Names, ties and counts of a model's tensors: parameters, buffers, plain tensor attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from modeldiagrams.ir.graph import ParameterCount, ParameterSpec
from modeldiagrams.tracer.torch_facts.nested_values import find_tensors
from modeldiagrams.tracer.torch_facts.private_api import (
    UninitializedTensor,
    modules_of,
    not_persistent,
    own_attributes,
    own_buffers,
    own_modules,
    own_parameters,
    stored_bytes,
    unpack_weights,
)
from modeldiagrams.tracer.values.pass_records import GraphInput
from modeldiagrams.tracer.values.value_tracker import spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modeldiagrams.tracer.values.pass_records import InputKind

_NO_PARAMETERS = ParameterCount(own=0, total=0, trainable=0)


class NamedTensors:
    """The parameters, buffers and constants of a model, and its modules, by name."""

    def __init__(self) -> None:
        self._inputs: dict[int, tuple[Tensor, GraphInput]] = {}
        self.paths: dict[int, tuple[nn.Module, str]] = {}
        """``id`` of a module → the module, kept alive, and the first of its dotted paths."""
        self._counts: dict[int, ParameterCount] = {}
        self._inside: dict[int, tuple[int, dict[int, tuple[int, bool]]]] = {}
        self._specs: dict[str, tuple[Tensor, InputKind]] = {}
        self._not_saved: set[str] = set()
        self._packed: dict[int, list[Tensor]] = {}
        """``id`` of a module → the weights in objects that it holds, as the quantised layers of `torch.ao`."""
        self._elements: dict[int, int] = {}
        """``id`` of a tensor of packed weights → their number."""

    def add_modules(self, modules: Sequence[tuple[str, nn.Module]], path: str) -> list[tuple[Tensor, GraphInput]]:
        """Register a module and all modules inside it, as `modules_of` returns them, under a path; the new tensors."""
        before, paths = len(self._inputs), self.paths
        for inner_path, inner in modules:
            name = f"{path}.{inner_path}" if path and inner_path else path or inner_path
            paths.setdefault(id(inner), (inner, name))
            prefix = f"{name}." if name else ""
            if parameters := own_parameters(inner):
                self._add(parameters, "parameter", prefix)
            if buffers := own_buffers(inner):
                self._add(buffers, "buffer", prefix)
                self._not_saved.update([prefix + key for key in not_persistent(inner)])
        searched: dict[int, Any] = {}  # objects that modules share, such as a configuration
        # after all weights, because a plain attribute may hold a weight
        for inner in {id(inner): inner for _, inner in modules}.values():
            if attributes := own_attributes(inner):
                self._add_packed(attributes, inner)
                self._add_attributes(attributes, paths[id(inner)][1], searched)
        return list(self._inputs.values())[before:]

    def _add(self, held: Mapping[str, Tensor], kind: InputKind, prefix: str) -> None:
        """Register the parameters or the buffers of a module."""
        inputs, specs = self._inputs, self._specs
        for key, tensor in held.items():
            name = prefix + key
            specs.setdefault(name, (tensor, kind))
            known = inputs.get(id(tensor))
            if known is None:
                inputs[id(tensor)] = tensor, _make_input(kind, name, tensor)
            elif name not in known[1].names:
                known[1].names += (name,)

    def _add_packed(self, attributes: Sequence[tuple[str, Any]], module: nn.Module) -> None:
        """Register the weights in packed objects among the plain attributes of a module."""
        path = self.paths[id(module)][1]
        for _, held in attributes:
            weights = unpack_weights(held) if isinstance(held, torch.ScriptObject) else {}
            for name, tensor in weights.items():
                full = f"{path}.{name}" if path else name
                self._specs.setdefault(full, (tensor, "parameter"))
                self._inputs[id(tensor)] = tensor, _make_input("parameter", full, tensor)
                self._not_saved.add(full)
                self._packed.setdefault(id(module), []).append(tensor)

    def inputs(self) -> list[GraphInput]:
        """All parameters, buffers and constants."""
        return [source for _, source in self._inputs.values()]

    def set_elements(self, packed: Mapping[GraphInput, int]) -> None:
        """Set the numbers of weights in tensors of packed ones, before anything is counted."""
        known = {id(source): tensor for tensor, source in self._inputs.values()}
        self._elements = {id(known[id(source)]): n for source, n in packed.items() if id(source) in known}

    def _weights_of(self, module: nn.Module) -> list[tuple[Tensor, int]]:
        """The weights that a module holds itself, and how many each is."""
        found = [*own_parameters(module).values(), *self._packed.get(id(module), ())]
        if self._elements:
            found += [buffer for buffer in own_buffers(module).values() if self._elements.get(id(buffer))]
        return [(tensor, self._elements.get(id(tensor), _count_elements(tensor))) for tensor in found]

    def _add_attributes(self, attributes: Sequence[tuple[str, Any]], path: str, searched: dict[int, Any]) -> None:
        """Register the tensors among the plain attributes of a module."""
        for key, value in attributes:
            if issubclass(type(value), nn.Module) or id(value) in searched:
                continue
            for name, tensor in find_tensors(value, f"{path}.{key}" if path else key, entered=searched):
                if id(tensor) not in self._inputs:
                    self._inputs[id(tensor)] = tensor, _make_input("constant", name, tensor)

    def release(self) -> None:
        """Break reference cycles, like `PassRecord.release`."""
        for _, source in self._inputs.values():
            source.outputs.clear()

    def find(self, name: str) -> GraphInput | None:
        """The parameter or buffer of a dotted name."""
        known = self._specs.get(name)
        return None if known is None else self._inputs[id(known[0])][1]

    def keep_used(self, function: Any, modules: Sequence[nn.Module], read: Sequence[GraphInput]) -> None:
        """Keep only weights of these modules, and those that were read; count them for the function that used them."""
        inside: dict[int, tuple[int, bool]] = {}
        kept: set[int] = set()
        for module in {id(module): module for module in modules}.values():
            inside |= self._parameters_in(module)[1]
            kept |= {id(buffer) for _, inner in modules_of(module) for buffer in own_buffers(inner).values()}
        names = {name for source in read for name in source.names}
        directly = {id(tensor): (tensor, kind) for name, (tensor, kind) in self._specs.items() if name in names}
        own = {
            key: (_count_elements(tensor), tensor.requires_grad)
            for key, (tensor, kind) in directly.items()
            if kind == "parameter" and key not in inside
        }
        inside |= own
        self._counts[id(function)] = _add_up(sum(size for size, _ in own.values()), inside)
        kept |= {*inside, *directly}
        self._specs = {name: spec for name, spec in self._specs.items() if id(spec[0]) in kept}

    def find_lazy_weight(self, tensor: Tensor, lazy: Tensor) -> GraphInput | None:
        """The parameter or buffer that a lazy tensor was; `tensor` now has a shape and may be a new object."""
        if id(lazy) not in self._inputs:
            return None
        _, weight = self._inputs[id(lazy)]
        weight.value.spec = spec_of(tensor)
        self._inputs[id(tensor)] = (tensor, weight)
        return weight

    def count(self, module: Any) -> ParameterCount:
        """Count the parameters of a module; a tied weight counts once."""
        count = self._counts.get(id(module))
        if count is None:
            self._counts[id(module)] = _NO_PARAMETERS  # in case a module contains itself
            if isinstance(module, nn.Module):
                count = self._counts[id(module)] = _add_up(*self._parameters_in(module))
        return count or _NO_PARAMETERS

    def _parameters_in(self, module: nn.Module) -> tuple[int, dict[int, tuple[int, bool]]]:
        """How many parameters a module holds itself; size and trainability of each in it and in the modules inside."""
        known = self._inside.get(id(module))
        if known is None:
            inside = {id(p): (size, p.requires_grad) for p, size in self._weights_of(module)}
            known = self._inside[id(module)] = sum([size for size, _ in inside.values()]), inside
            for inner in own_modules(module).values():
                inside.update(self._parameters_in(inner)[1])
        return known

    def specs(self) -> dict[str, ParameterSpec]:
        """Describe all parameters and buffers, by dotted name."""
        found, inputs, not_saved = {}, self._inputs, self._not_saved
        for name, (tensor, kind) in self._specs.items():
            names = [other for other in inputs[id(tensor)][1].names if other in self._specs]
            spec, is_parameter = spec_of(tensor), kind == "parameter"
            found[name] = ParameterSpec(
                shape=None if spec.shape is None else tuple(map(int, spec.shape)),
                dtype=spec.dtype,
                owner=name.rpartition(".")[0],
                kind="parameter" if is_parameter else "buffer",
                trainable=is_parameter and tensor.requires_grad,
                persistent=name not in not_saved,
                tied=tuple([other for other in names if other != name]) if len(names) > 1 else (),
                elements=self._elements.get(id(tensor)),
                nbytes=stored_bytes(tensor),
            )
        return found


def _add_up(own: int, inside: Mapping[int, tuple[int, bool]]) -> ParameterCount:
    """Add up the sizes of parameters, given with whether they are trainable."""
    if not inside:
        return _NO_PARAMETERS
    return ParameterCount(
        own=own,
        total=sum([size for size, _ in inside.values()]),
        trainable=sum([size for size, is_trainable in inside.values() if is_trainable]),
    )


def _make_input(kind: InputKind, name: str, tensor: Tensor) -> GraphInput:
    """Make the graph input for a tensor of this name."""
    given = GraphInput(kind, f"{kind}:{name}", (name,))
    given.set_value(spec_of(tensor))
    return given


def _count_elements(parameter: Tensor) -> int:
    """Number of elements; 0 for lazy parameters."""
    return 0 if isinstance(parameter, UninitializedTensor) else parameter.numel()
