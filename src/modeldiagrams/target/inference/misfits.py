"""Which layer a pass could not get through, and how many features came to it.

Where inputs aren't to blame, an argument of the constructor is: the number that the layer holds, or the class that the
layer or a module around it was made by.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from torch import Tensor, nn

from modeldiagrams.target.inference.lookups import tracebacks

if TYPE_CHECKING:
    from modeldiagrams.target.inference.probing import Probe, Probed
    from modeldiagrams.target.inference.sizes import Sizes

__all__ = ["ENOUGH", "Fitter", "Furthest", "Misfit", "Stuck", "is_for_constructor", "misfit_of"]

_CONVOLUTIONS = nn.modules.conv._ConvNd  # noqa: SLF001  (their common base)
_BATCH_NORMS = nn.modules.batchnorm._NormBase  # noqa: SLF001
_SIZES: tuple[tuple[type[nn.Module], str, int], ...] = (
    (nn.Linear, "in_features", -1),
    (_CONVOLUTIONS, "in_channels", 1),
    (_BATCH_NORMS, "num_features", 1),
    (nn.GroupNorm, "num_channels", 1),
    (nn.LayerNorm, "normalized_shape", -1),
    (nn.RNNBase, "input_size", -1),
    (nn.RNNCellBase, "input_size", -1),
    (nn.MultiheadAttention, "embed_dim", -1),
)
"""Layers, the attribute that says how many features they take, and the dimension of the input that has them."""
_MOST = 8192
ENOUGH = 10
"""Passes of a search for inputs before a size that no input has counts as an argument of the constructor."""
_MANY = 24
"""Passes before the class of a layer does."""


@dataclass(frozen=True)
class Misfit:
    """A layer, and what came to it."""

    layers: tuple[tuple[str, type], ...]
    """Path and class of the layer and of the modules around it, innermost first."""
    attribute: str = ""
    """That holds the number of features which the layer takes; empty where another thing is wrong."""
    got: int = 0
    """How many came."""


@dataclass(frozen=True)
class Stuck:
    """Where the pass ended that got furthest, for a model that is made in another way because of it."""

    misfit: Misfit
    entries: dict[str | int, Any]
    sizes: Sizes


class Fitter(Protocol):
    """Knows the arguments of the constructor."""

    def is_about(self, misfit: Misfit) -> bool:
        """Whether one of them is the size of the layer itself, or its class."""


class Furthest:
    """Keeps the failed pass that got furthest."""

    def __init__(self) -> None:
        """Without any so far."""
        self._probed: Probed | None = None
        self._entries: dict[str | int, Any] = {}

    def note(self, probed: Probed, entries: dict[str | int, Any]) -> None:
        """Keep a pass if none got further."""
        if probed.error is not None and (self._probed is None or probed.depth > self._probed.depth):
            before, self._probed, self._entries = self._probed, probed, entries
            self.forget(before)

    def forget(self, probed: Probed | None) -> None:
        """Let go of the tensors of a pass that is used no more, unless it is this one."""
        if probed is not None and probed is not self._probed:
            probed.forget()

    def stuck(self, probe: Probe, sizes: Sizes) -> Stuck | None:
        """The layer that it ended in; None if it ended elsewhere."""
        misfit = misfit_of(probe.model, self._probed) if self._probed else None
        return Stuck(misfit, self._entries, sizes) if misfit else None


def is_for_constructor(stuck: Stuck | None, fitter: Fitter, tries: int) -> bool:
    """Whether other arguments of the constructor are likelier to help than other inputs, after so many tries."""
    if stuck is None or not fitter.is_about(stuck.misfit):
        return False
    got, given = stuck.misfit.got, [*stuck.sizes.given(), stuck.sizes.batch]
    return not any(got % size == 0 for size in given) if got else tries > _MANY


def misfit_of(model: nn.Module, probed: Probed) -> Misfit | None:
    """The layer that a failed pass ended in; None if it ended in the model's own code."""
    paths = {id(module): path for path, module in model.named_modules()}
    inside = [trace.tb_frame.f_locals.get("self") for trace in tracebacks(probed.error)]
    modules = [module for module in inside if isinstance(module, nn.Module) and id(module) in paths]
    layers = tuple(dict.fromkeys((paths[id(module)], type(module)) for module in modules))
    if not layers:
        return None
    return Misfit(layers, *_refused(modules[0], probed.operands))


def _refused(layer: nn.Module, operands: list[Any]) -> tuple[str, int]:
    """What a layer says of its size, and what came instead."""
    shape = next((tuple(operand.shape) for operand in operands if isinstance(operand, Tensor)), ())
    for kind, attribute, dimension in _SIZES if _takes_rank(layer, len(shape)) else ():
        if isinstance(layer, kind) and len(shape) > max(dimension, 0):
            got = shape[dimension]
            return (attribute, got) if 0 < got <= _MOST and got != _held(layer, attribute) else ("", 0)
    return "", 0


def _takes_rank(layer: nn.Module, rank: int) -> bool:
    """Whether a layer takes tensors of so many dimensions, where its name says of how many."""
    said = re.search(r"([123])d$", type(layer).__name__)
    least = 1 if isinstance(layer, _CONVOLUTIONS | nn.BatchNorm1d) else 2
    return said is None or int(said[1]) + least <= rank <= int(said[1]) + 2


def _held(layer: nn.Module, attribute: str) -> Any:
    held = getattr(layer, attribute)
    return held[-1] if isinstance(held, tuple) else held
