"""Floating point operations of operators, from their shapes.

The formulas of `torch.utils.flop_counter` (a multiply-add counts as two) and those it lacks. Only matrix products,
convolutions, attention and recurrent layers count; element-wise ops and reductions don't. Only shapes matter: sparse
matrices count as dense, complex numbers as real. The formulas are documented in
``docs/pages/reference/format.md``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.flop_counter import flop_registry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor


def flop_formula(operator: Any) -> Callable[..., int] | None:
    """The formula of an operator, called as ``formula(*args, out_val=result, **kwargs)``, or None."""
    packet = getattr(operator, "overloadpacket", operator)
    return _MORE.get(str(packet)) or flop_registry.get(packet)


def _dot(a: Tensor, *_: Any, **__: Any) -> int:
    """Length n by n."""
    return 2 * a.numel()


def _addmv(_added: Tensor, matrix: Tensor, *_: Any, **__: Any) -> int:
    """Length m plus m × k by k."""
    return 2 * matrix.numel()


def _addbmm(_added: Tensor, a: Tensor, b: Tensor, *_: Any, **__: Any) -> int:
    """Sum of batches of n × m by m × k."""
    return 2 * a.numel() * b.shape[-1]


def _attention(query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any) -> int:
    """Softmax(query · keyᵀ) · value, each batch × heads × length × width; a causal mask saves nothing.

    Several heads of the query may share one of key and value.
    """
    return 2 * query.numel() * key.shape[-2] + 2 * math.prod(query.shape[:-1]) * value.shape[-2] * value.shape[-1]


def _grouped_mm(a: Tensor, b: Tensor, *_: Any, out_val: Tensor, **__: Any) -> int:
    """Groups of rows of ``a``, each multiplied by the matrix of its group.

    If both are matrices, the inner dimension is split instead, and every group makes a whole matrix.
    """
    if a.dim() == b.dim() == 2:  # noqa: PLR2004 - matrices
        return 2 * a.shape[0] * a.shape[1] * b.shape[1]
    return 2 * out_val.numel() * a.shape[-1]


def _recurrent_layer(given: Tensor, w_ih: Tensor, w_hh: Tensor, *_: Any, **__: Any) -> int:
    """One LSTM layer and direction: each step multiplies the input and the state by their weights."""
    steps = math.prod(given.shape[:-1])
    return 2 * steps * (w_ih.numel() + w_hh.numel())


def _recurrent(given: Tensor, *args: Any, **__: Any) -> int:
    """A recurrent network: every step multiplies by every matrix once.

    The parameters are the last list among the arguments, after the state and the batch sizes of packed sequences.
    """
    parameters: Sequence[Tensor] = [arg for arg in args[:3] if isinstance(arg, list | tuple)][-1]
    steps = math.prod(given.shape[:-1])
    return 2 * steps * sum(p.numel() for p in parameters if p.dim() == 2)  # noqa: PLR2004 - matrices, not biases


_MORE: dict[str, Callable[..., int]] = {
    "aten.dot": _dot,
    "aten.mv": _dot,
    "aten.vdot": _dot,
    "aten.addmv": _addmv,
    "aten.addbmm": _addbmm,
    "aten._sparse_addmm": flop_registry[torch.ops.aten.addmm],
    "aten._addmm_activation": flop_registry[torch.ops.aten.addmm],
    "aten._scaled_dot_product_cudnn_attention": _attention,
    "aten._scaled_dot_product_efficient_attention": _attention,
    "aten._scaled_dot_product_flash_attention": _attention,
    "aten._scaled_dot_product_flash_attention_for_cpu": _attention,
    "aten._scaled_dot_product_fused_attention_overrideable": _attention,
    "aten._grouped_mm": _grouped_mm,
    "aten._scaled_grouped_mm": _grouped_mm,
    "aten.mkldnn_rnn_layer": _recurrent_layer,
    "aten.lstm": _recurrent,
    "aten.gru": _recurrent,
    "aten.rnn_tanh": _recurrent,
    "aten.rnn_relu": _recurrent,
}
