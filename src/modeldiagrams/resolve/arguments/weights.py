"""Which shape a tensor must have that a constructor gives to one of its layers as weights."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torch import Tensor, nn

from modeldiagrams.resolve.arguments.stand_in_numbers import Refused, Use
from modeldiagrams.resolve.code.frames import expression_at, resolved, tracebacks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modeldiagrams.resolve.arguments.slots import Slot

__all__ = ["replaced_weights", "weights_copied"]

_SIZES: dict[type[nn.Module], tuple[str, str]] = {
    nn.Embedding: ("num_embeddings", "embedding_dim"),
    nn.Linear: ("out_features", "in_features"),
}


def replaced_weights(model: nn.Module, known: Iterable[Slot]) -> Iterator[Refused]:
    """Tensors that layers have as weights, but for which their other sizes ask for another shape."""
    tensors = [slot for slot in known if slot.kind == "tensor" and isinstance(slot.given, Tensor)]
    for module in model.modules() if tensors else ():
        names = _SIZES.get(type(module))
        weight = getattr(module, "weight", None)
        if names and isinstance(weight, Tensor):
            shape = tuple(int(getattr(module, name)) for name in names)
            same = [slot for slot in tensors if slot.given.shape == weight.shape]
            yield from (Refused(slot, Use("shape", shape)) for slot in same[:1] if tuple(weight.shape) != shape)


def weights_copied(error: BaseException, known: Iterable[Slot]) -> Iterator[Refused]:
    """A tensor that is copied into weights of another shape: ``self.table.weight.data.copy_(vectors)``."""
    for trace in tracebacks(error)[:2]:
        match expression_at(trace.tb_frame, trace.tb_lasti):
            case ast.Call(func=ast.Attribute(value=target, attr="copy_"), args=[source, *_]):
                if isinstance(target, ast.Attribute) and target.attr == "data":
                    target = target.value
                into, copied = (resolved(node, trace.tb_frame.f_locals) for node in (target, source))
                if isinstance(into, Tensor):
                    yield from (
                        Refused(slot, Use("shape", tuple(into.shape))) for slot in known if slot.given is copied
                    )
