"""Which layer a pass could not get through, and how many features came to it.

Where inputs aren't to blame, an argument of the constructor is: the number that the layer holds, or the class that the
layer or a module around it was made by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from modeldiagrams.target.inference.lookups import tracebacks

if TYPE_CHECKING:
    from modeldiagrams.target.inference.probing import Probed

__all__ = ["Misfit", "misfit_of"]

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


@dataclass(frozen=True)
class Misfit:
    """A layer, and what came to it."""

    layers: tuple[tuple[str, type], ...]
    """Path and class of the layer and of the modules around it, innermost first."""
    attribute: str = ""
    """That holds the number of features which the layer takes; empty where another thing is wrong."""
    got: int = 0
    """How many came."""


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
    for kind, attribute, dimension in _SIZES:
        if isinstance(layer, kind) and len(shape) > max(dimension, 0):
            got = shape[dimension]
            return (attribute, got) if 0 < got <= _MOST and got != _held(layer, attribute) else ("", 0)
    return "", 0


def _held(layer: nn.Module, attribute: str) -> Any:
    held = getattr(layer, attribute)
    return held[-1] if isinstance(held, tuple) else held
