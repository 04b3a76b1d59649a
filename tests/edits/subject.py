"""A model to edit: what it is made of, and which of its modules a pass calls."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from modeldiagrams.tracer import trace

if TYPE_CHECKING:
    import random

    from modeldiagrams.ir.graph import Graph


class InapplicableError(Exception):
    """This model has nothing that could be edited like this."""


@dataclass(frozen=True)
class Line:
    """What has to be said once: one of these kinds, of exactly these modules."""

    ids: str
    """Separated by spaces: any of them is right."""
    before: frozenset[str] | None = None
    """Paths of modules in the model before; None where places don't matter."""
    after: frozenset[str] | None = None
    count: int | None = None
    values: tuple[Any, Any] | None = None


@dataclass
class Edited:
    """An edited model and what has to be said of the edit."""

    model: nn.Module
    lines: list[Line]
    keys: Mapping[str, str | None] = field(default_factory=dict)
    """Key → key in the edited model, or None; without those that keep their name."""
    inputs: Any = None
    allowed: str = ""
    """Kinds of change that may be told as well: consequences."""
    untold: str = r"(?!)"
    """Pattern of the keys of which nothing is expected, because nobody could say."""
    has_to_run: frozenset[str] = frozenset()
    """Paths without which the edit is none."""
    graph: Any = None


@dataclass(frozen=True)
class Probe:
    """One module as a pass calls it."""

    path: str
    module: nn.Module
    given: tuple[int, ...] | None
    """Shape of the first input, None if it is no tensor."""
    returned: tuple[int, ...] | None
    calls: int


class Subject:
    """A model with its inputs, of which each edit gets a copy."""

    def __init__(
        self,
        name: str,
        make: Callable[[], nn.Module],
        inputs: Callable[[], Any],
        variants: Mapping[str, tuple[Callable[[], nn.Module], list[Line]]] | None = None,
        other_inputs: Callable[[], Any] | None = None,
    ) -> None:
        self.name, self._make, self.inputs = name, make, inputs
        self.variants, self.other_inputs = variants or {}, other_inputs

    @cached_property
    def original(self) -> nn.Module:
        torch.manual_seed(0)
        return self._make().eval()

    def copy(self) -> nn.Module:
        return copy.deepcopy(self.original)

    @cached_property
    def graph(self) -> Graph:
        return traced(self.original, self.inputs())

    @cached_property
    def probes(self) -> dict[str, Probe]:
        """What a pass calls, in the order in which calls end."""
        found: dict[str, Probe] = {}
        paths = {id(module): path for path, module in self.original.named_modules()}

        def hook(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            path = paths[id(module)]
            first = next((x for x in (*args, *kwargs.values()) if x is not None), None)
            calls = found[path].calls + 1 if path in found else 1
            found[path] = Probe(path, module, _shape(first), _shape(output), calls)

        handles = [module.register_forward_hook(hook, with_kwargs=True) for module in self.original.modules()]
        run(self.original, self.inputs())
        for handle in handles:
            handle.remove()
        return found

    def of(self, *classes: type, inner: bool = False) -> list[Probe]:
        """Called modules of exactly these classes, in order; with a parent if `inner`."""
        return [probe for probe in self.probes.values() if type(probe.module) in classes and (probe.path or not inner)]

    def like(self, probe: Probe) -> list[Probe]:
        """The called modules that are in the same place of other blocks."""
        pattern = re.sub(r"(?<![^.])\d+(?![^.])", r"\\d+", re.escape(probe.path).replace(r"\.", "."))
        return [
            other
            for other in self.probes.values()
            if re.fullmatch(pattern, other.path) and type(other.module) is type(probe.module)
        ]


def _shape(value: Any) -> tuple[int, ...] | None:
    return tuple(value.shape) if isinstance(value, torch.Tensor) else None


def run(model: nn.Module, inputs: Any) -> Any:
    with torch.no_grad():
        return model(**inputs) if isinstance(inputs, dict) else model(*inputs)


def traced(model: nn.Module, inputs: Any) -> Graph:
    with torch.no_grad():
        return trace(model, (), inputs) if isinstance(inputs, dict) else trace(model, inputs)


def parent_of(model: nn.Module, path: str) -> tuple[nn.Module, str]:
    holder, _, name = path.rpartition(".")
    return model.get_submodule(holder), name


def put(model: nn.Module, path: str, module: nn.Module) -> None:
    holder, name = parent_of(model, path)
    holder._modules[name] = module


def choice(random_: random.Random, found: list[Any]) -> Any:
    if not found:
        raise InapplicableError("nothing of the kind")
    return random_.choice(found)


def paths(probes: list[Probe], more: str = "") -> frozenset[str]:
    return frozenset((f"{probe.path}.{more}" if probe.path else more) if more else probe.path for probe in probes)


def keys_under(model: nn.Module, path: str) -> list[str]:
    return [key for key in model.state_dict() if key.startswith(f"{path}.") or path == ""]
