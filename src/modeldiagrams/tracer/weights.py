"""Names, ties and counts of what a model holds: parameters, buffers, plain tensor attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from modeldiagrams.graph import ParameterCount, ParameterSpec
from modeldiagrams.tracer.internals import UninitializedTensor, own_buffers, own_parameters
from modeldiagrams.tracer.provenance import spec_of
from modeldiagrams.tracer.recording import Source, Value
from modeldiagrams.tracer.walk import find_tensors

if TYPE_CHECKING:
    from modeldiagrams.tracer.recording import SourceKind

__all__ = ["Weights"]

_NO_TENSORS = (str, int, float, type(None), nn.Module)


class Weights:
    """Everything the model held before the pass, by tensor."""

    def __init__(self) -> None:
        self._sources: dict[int, tuple[Tensor, Source]] = {}
        self._paths: dict[int, tuple[nn.Module, str]] = {}
        self._counts: dict[int, ParameterCount] = {}
        self._specs: dict[str, tuple[Tensor, SourceKind]] = {}

    def add_module(self, module: nn.Module, path: str) -> list[tuple[Tensor, Source]]:
        """Learn the names of a module and of all it holds.

        Args:
            module: The root, or a module that was made during the pass.
            path: Its dotted path.

        Returns:
            Every tensor that was not known before.
        """
        before = len(self._sources)
        modules = list(module.named_modules(prefix=path, remove_duplicate=False))
        for name, inner in modules:
            self._paths.setdefault(id(inner), (inner, name))
            prefix = f"{name}." if name else ""
            for key, parameter in own_parameters(inner).items():
                self._add(parameter, "parameter", prefix + key)
            for key, buffer in own_buffers(inner).items():
                self._add(buffer, "buffer", prefix + key)
        entered: dict[int, Any] = {}  # modules may share what they hold: a configuration
        for name, inner in modules:  # at last, for a plain attribute may hold a weight
            for key, value in vars(inner).items():
                # private dicts are torch's own bookkeeping: _parameters, _buffers, hooks
                if not isinstance(value, _NO_TENSORS) and not (key.startswith("_") and isinstance(value, dict)):
                    self._add_constants(value, f"{name}.{key}" if name else key, entered)
        return list(self._sources.values())[before:]

    def path(self, module: nn.Module) -> str | None:
        """A module's dotted path (the first of several); None for modules not seen so far."""
        known = self._paths.get(id(module))
        return known[1] if known else None

    def source(self, tensor: Tensor) -> Source | None:
        """The parameter, buffer or named constant that a tensor is."""
        known = self._sources.get(id(tensor))
        return known[1] if known else None

    def stand_in(self, tensor: Tensor, replaced: Tensor) -> None:
        """A tensor takes the place of another one during the pass (a fake for a real weight)."""
        source = self.source(replaced)
        if source is not None:
            self._sources[id(tensor)] = (tensor, source)

    def count(self, module: Any) -> ParameterCount:
        """Parameter counts of a module; a tied weight counts once."""
        if not isinstance(module, nn.Module):
            return ParameterCount(own=0, total=0, trainable=0)
        if id(module) not in self._counts:
            own = {id(p): p for p in own_parameters(module).values()}
            # most modules have none inside; for these the walk would cost more than all else
            every = {id(p): p for p in module.parameters()} if any(True for _ in module.children()) else own
            self._counts[id(module)] = ParameterCount(
                own=sum(map(_size, own.values())),
                total=sum(map(_size, every.values())),
                trainable=sum(_size(p) for p in every.values() if p.requires_grad),
            )
        return self._counts[id(module)]

    def specs(self) -> dict[str, ParameterSpec]:
        """All parameters and buffers by dotted name."""
        return {name: self._spec(name, tensor, kind) for name, (tensor, kind) in self._specs.items()}

    def _add(self, tensor: Tensor, kind: SourceKind, name: str) -> None:
        self._specs.setdefault(name, (tensor, kind))
        known = self._sources.get(id(tensor))
        if known is None:
            self._register(tensor, kind, name)
        elif name not in known[1].names:
            known[1].names += (name,)

    def _add_constants(self, value: Any, name: str, entered: dict[int, Any]) -> None:
        for place, tensor in find_tensors(value, name, entered=entered):
            if id(tensor) not in self._sources:
                self._register(tensor, "constant", place)

    def _register(self, tensor: Tensor, kind: SourceKind, name: str) -> None:
        source = Source(kind, f"{kind}:{name}", (name,))
        source.value = Value(source, 0, *spec_of(tensor))
        self._sources[id(tensor)] = (tensor, source)

    def _spec(self, name: str, tensor: Tensor, kind: SourceKind) -> ParameterSpec:
        shape, dtype = spec_of(tensor)
        source = self.source(tensor)
        return ParameterSpec(
            shape=None if shape is None else tuple(int(size) for size in shape),
            dtype=dtype,
            owner=name.rpartition(".")[0],
            kind="parameter" if kind == "parameter" else "buffer",
            trainable=kind == "parameter" and tensor.requires_grad,
            tied=tuple(other for other in (source.names if source else ()) if other != name),
        )


def _size(parameter: Tensor) -> int:
    """Number of elements; 0 for lazy parameters that have none yet."""
    return 0 if isinstance(parameter, UninitializedTensor) else parameter.numel()
