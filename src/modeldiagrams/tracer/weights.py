"""Names, ties and counts of what a model holds: parameters, buffers, plain tensor attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from modeldiagrams.graph import ParameterCount, ParameterSpec
from modeldiagrams.tracer.internals import (
    BOOKKEEPING,
    UninitializedTensor,
    own_buffers,
    own_modules,
    own_parameters,
)
from modeldiagrams.tracer.provenance import spec_of
from modeldiagrams.tracer.recording import Source
from modeldiagrams.tracer.walk import find_tensors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.tracer.recording import SourceKind

__all__ = ["Weights"]

_NO_PARAMETERS = ParameterCount(own=0, total=0, trainable=0)
_NO_TENSORS = frozenset({str, bool, int, float, type(None)})


class Weights:
    """Everything the model held before the pass, by tensor."""

    def __init__(self) -> None:
        self._sources: dict[int, tuple[Tensor, Source]] = {}
        self._paths: dict[int, tuple[nn.Module, str]] = {}
        self._counts: dict[int, ParameterCount] = {}
        self._has_ties = False
        """Something is held twice, by one module or by several."""
        self._inside: dict[int, dict[int, tuple[int, bool]]] = {}
        self._specs: dict[str, tuple[Tensor, SourceKind]] = {}

    def add_modules(self, modules: Sequence[tuple[str, nn.Module]], path: str) -> list[tuple[Tensor, Source]]:
        """Learn the names of modules and of all they hold.

        Args:
            modules: The root, or a module that was made during the pass, and all in it, as `modules_of` gives them.
            path: Dotted path of the first.

        Returns:
            Every tensor that was not known before.
        """
        before = len(self._sources)
        for inner_path, inner in modules:
            name = f"{path}.{inner_path}" if path and inner_path else path or inner_path
            self._paths.setdefault(id(inner), (inner, name))
            prefix = f"{name}." if name else ""
            for key, parameter in own_parameters(inner).items():
                self._add(parameter, "parameter", prefix + key)
            for key, buffer in own_buffers(inner).items():
                self._add(buffer, "buffer", prefix + key)
        entered: dict[int, Any] = {}  # modules may share what they hold: a configuration
        for inner in {
            id(inner): inner for _, inner in modules
        }.values():  # at last: a plain attribute may hold a weight
            self._add_attributes(inner, entered)
        return list(self._sources.values())[before:]

    def _add_attributes(self, module: nn.Module, entered: dict[int, Any]) -> None:
        path = self._paths[id(module)][1]
        held = [(key, value) for key, value in vars(module).items() if type(value) not in _NO_TENSORS]
        for key, value in [(key, value) for key, value in held if key not in BOOKKEEPING]:
            kind = type(value)
            is_plain = kind is tuple and _NO_TENSORS.issuperset(map(type, value))
            if not is_plain and not issubclass(kind, nn.Module) and id(value) not in entered:
                self._add_constants(value, f"{path}.{key}" if path else key, entered)

    def path(self, module: nn.Module) -> str | None:
        """A module's dotted path (the first of several); None for modules not seen so far."""
        known = self._paths.get(id(module))
        return known[1] if known else None

    def renewed(self, tensor: Tensor, lazy: Tensor) -> Source | None:
        """The parameter or buffer that a lazy tensor was, now that it has its shape, perhaps as another tensor."""
        known = self._sources.get(id(lazy))
        if known is None:
            return None
        source = known[1]
        source.value.spec = spec_of(tensor)
        self._sources[id(tensor)] = (tensor, source)
        return source

    def count(self, module: Any) -> ParameterCount:
        """Parameter counts of a module; a tied weight counts once."""
        if not isinstance(module, nn.Module):
            return _NO_PARAMETERS
        count = self._counts.get(id(module))
        if count is None:
            count = self._counts[id(module)] = _NO_PARAMETERS  # for a module that holds itself
            count = self._counts[id(module)] = self._union(module) if self._has_ties else self._sum(module)
        return count

    def _sum(self, module: nn.Module) -> ParameterCount:
        """Counts where nothing is held twice."""
        own = trainable = 0
        for parameter in own_parameters(module).values():
            size = _size(parameter)
            own += size
            trainable += size if parameter.requires_grad else 0
        total = own
        for inner in own_modules(module).values():
            count = self.count(inner)
            total += count.total
            trainable += count.trainable
        return ParameterCount(own=own, total=total, trainable=trainable) if total else _NO_PARAMETERS

    def _union(self, module: nn.Module) -> ParameterCount:
        inside = self._parameters_in(module)
        own = dict.fromkeys(map(id, own_parameters(module).values()))
        return ParameterCount(
            own=sum([inside[key][0] for key in own]),
            total=sum([size for size, _ in inside.values()]),
            trainable=sum([size for size, is_trainable in inside.values() if is_trainable]),
        )

    def _parameters_in(self, module: nn.Module) -> dict[int, tuple[int, bool]]:
        """Size of, and whether trainable, every parameter in a module and the modules in it, each once."""
        known = self._inside.get(id(module))
        if known is None:
            known = {id(p): (_size(p), p.requires_grad) for p in own_parameters(module).values()}
            self._inside[id(module)] = known
            for inner in own_modules(module).values():
                known.update(self._parameters_in(inner))
        return known

    def specs(self) -> dict[str, ParameterSpec]:
        """All parameters and buffers by dotted name."""
        return {name: self._spec(name, tensor, kind) for name, (tensor, kind) in self._specs.items()}

    def _add(self, tensor: Tensor, kind: SourceKind, name: str) -> None:
        self._specs.setdefault(name, (tensor, kind))
        known = self._sources.get(id(tensor))
        if known is None:
            self._register(tensor, kind, name)
            return
        self._has_ties = True
        if name not in known[1].names:
            known[1].names += (name,)

    def _add_constants(self, value: Any, name: str, entered: dict[int, Any]) -> None:
        for place, tensor in find_tensors(value, name, entered=entered):
            if id(tensor) not in self._sources:
                self._register(tensor, "constant", place)

    def _register(self, tensor: Tensor, kind: SourceKind, name: str) -> None:
        source = Source(kind, f"{kind}:{name}", (name,))
        source.hold(spec_of(tensor))
        self._sources[id(tensor)] = (tensor, source)

    def _spec(self, name: str, tensor: Tensor, kind: SourceKind) -> ParameterSpec:
        _, source = self._sources[id(tensor)]
        spec = source.value.spec
        if spec.shape is None:  # a lazy parameter that was given its shape
            spec = spec_of(tensor)
        names = source.names
        return ParameterSpec(
            shape=None if spec.shape is None else tuple([int(size) for size in spec.shape]),
            dtype=spec.dtype,
            owner=name.rpartition(".")[0],
            kind="parameter" if kind == "parameter" else "buffer",
            trainable=kind == "parameter" and tensor.requires_grad,
            tied=tuple([other for other in names if other != name]) if len(names) > 1 else (),
        )


def _size(parameter: Tensor) -> int:
    """Number of elements; 0 for lazy parameters that have none yet."""
    return 0 if isinstance(parameter, UninitializedTensor) else parameter.numel()
