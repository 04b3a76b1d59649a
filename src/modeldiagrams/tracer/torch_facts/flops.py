"""Floating point operations of operators and public functions, from their shapes.

These are the formulas of `torch.utils.flop_counter`, in which a multiply-add counts as two, and the ones it lacks. Only
matrix products, convolutions, attention and recurrent layers count; element-wise ops and reductions don't. Only shapes
matter: sparse matrices count as dense, complex numbers as real. ``docs/pages/reference/format.md`` documents this.

`call_formula` gives the costs of most calls without counting the operators inside.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.utils._pytree import tree_map
from torch.utils.flop_counter import FlopCounterMode, flop_registry

from modeldiagrams.tracer.torch_facts.argument_names import positional_names
from modeldiagrams.tracer.torch_facts.private_api import (
    PLAIN_TENSORS,
    is_one_kernel,
    no_dispatch_modes,
    sizes_as_numbers,
    wraps_now,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FREE = frozenset(
    {"__eq__", "__floordiv__", "__getitem__", "__invert__", "__rpow__", "__rsub__", "__setitem__", "bool", "chunk"}
    | {"adaptive_avg_pool2d", "batch_norm", "contiguous", "dropout", "embedding", "expand_as", "flatten", "float"}
    | {"grid_sample", "group_norm", "hardswish", "hardtanh", "int", "interpolate", "layer_norm", "leaky_relu", "long"}
    | {"max", "max_pool2d", "min", "normalize", "pad", "relu", "repeat_interleave", "reshape", "reshape_as"}
    | {"rms_norm", "silu", "softmax", "split", "square", "to", "type", "type_as", "view_as", "where"}
)
"""Common functions that run several operators, none of which counts."""
_BESIDE_TENSORS = PLAIN_TENSORS | {bool, int, type(None)}


class CallFormula:
    """The cost of a call of a public function."""

    __slots__ = ("_names", "_operations")

    def __init__(self, operations: Callable[..., int], names: Sequence[str]) -> None:
        """Make a formula of the values of these first parameters and of the result."""
        self._operations = operations
        self._names = names

    def given(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Sequence[Any] | None:
        """The arguments that the formula needs; None if it doesn't hold for this call.

        It doesn't hold for tensor classes that may run other operators, nor under vmap and forward-mode derivatives,
        where torch computes with shapes that Python doesn't see.
        """
        names = self._names
        if not names:
            return () if not args or type(args[0]) in PLAIN_TENSORS or not isinstance(args[0], Tensor) else None
        given = args[: len(names)]
        if kwargs:
            if kwargs.get("static_k") is not None:  # attention with keys that are already projected
                return None
            given = [*given, *map(kwargs.get, names[len(given) :])]
        if len(given) != len(names) or not _BESIDE_TENSORS.issuperset(map(type, given)) or any(map(_is_nested, given)):
            return None
        return given if wraps_now() is None and forward_ad._current_level < 0 else None  # noqa: SLF001 - nothing else tells

    def flops(self, given: Sequence[Any], result: Any) -> int | None:
        """The operations of a call that ran; None without shapes, as for nested tensors."""
        try:
            found = self._operations(*given, result)
            if type(found) is int:
                return found
            with sizes_as_numbers():
                return self._operations(*given, result)
        except Exception:  # noqa: BLE001 - torch raises many
            return None


def count_nested(operator: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> int:
    """The operations of an operator on nested tensors of the layout `torch.strided`: those on each of their parts."""
    given = [each for each in (*args, *kwargs.values()) if _is_nested(each)]
    with no_dispatch_modes(), FlopCounterMode(display=False) as counter:
        for i in range(given[0].size(0)):
            operator(*tree_map(lambda each, i=i: _part(each, i), args), **tree_map(lambda e, i=i: _part(e, i), kwargs))
    return int(counter.get_total_flops())


def _part(value: Any, i: int) -> Any:
    if not isinstance(value, Tensor):
        return value
    return (value.unbind()[i] if value.is_nested else value).detach().to("meta")


def _is_nested(value: Any) -> bool:
    """Whether this is a nested tensor of the layout `torch.strided`; those of the other have a class of their own."""
    return type(value) is Tensor and value.is_nested


FREE = CallFormula(lambda *_: 0, ())
"""A function that costs nothing."""


def call_formula(function: Any, name: str, raw: str) -> CallFormula | None:
    """The formula of a function with this public name and ``__name__``; None if its operators must be counted."""
    if not name.startswith("torch.") or name.startswith("torch.sparse."):
        return None
    if raw in _CALLS:
        return _CALLS[raw]
    if raw in _FREE or (is_one_kernel(function) and flop_formula(getattr(torch.ops.aten, raw)) is None):
        return FREE
    return None


def flop_formula(operator: Any) -> Callable[..., int] | None:
    """The formula of an operator, called as ``formula(*args, out_val=result, **kwargs)``, or None."""
    packet = getattr(operator, "overloadpacket", operator)
    return _MORE.get(str(packet).rstrip("_")) or flop_registry.get(packet)


def _product(a: Tensor, _b: Tensor, result: Tensor) -> int:
    """N × m by m × k, with batches, and vectors as matrices."""
    return 2 * result.numel() * a.shape[-1]


def _rows_product(given: Tensor, *_: Any, out_val: Tensor, **__: Any) -> int:
    """The same by the shapes of the first matrix and of the result: other weights are packed."""
    return 2 * out_val.numel() * given.shape[-1]


def _added_product(_added: Tensor, a: Tensor, b: Tensor, result: Tensor) -> int:
    """A product to which something is added, which doesn't count."""
    return _product(a, b, result)


def _convolution(_given: Tensor, weight: Tensor, result: Tensor) -> int:
    """Each number of the result is a sum over a kernel's channels and positions."""
    return 2 * result.numel() * math.prod(weight.shape[1:])


def _transposed_convolution(given: Tensor, weight: Tensor, _result: Tensor) -> int:
    """Each number of the input is added to the result at a kernel's channels and positions."""
    return 2 * given.numel() * math.prod(weight.shape[1:])


def _addmv(_added: Tensor, matrix: Tensor, *_: Any, **__: Any) -> int:
    """Length m plus m × k by k."""
    return 2 * matrix.numel()


def _addbmm(_added: Tensor, a: Tensor, b: Tensor, *_: Any, **__: Any) -> int:
    """Sum of batches of n × m by m × k."""
    return 2 * a.numel() * b.shape[-1]


def _attention(query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any) -> int:
    """Softmax(query · keyᵀ) · value, each batch × heads × length × width; a causal mask saves nothing.

    Several heads of the query may share a head of key and value, and a batch may share one query.
    """
    compared, summed = _heads(query, key), _heads(query, key, value)
    return 2 * query.shape[-2] * key.shape[-2] * (compared * query.shape[-1] + summed * value.shape[-1])


def _multi_head_attention(query: Tensor, key: Tensor, value: Tensor, width: int, *more: Any) -> int:
    """Four projections around an attention of this width, each length × batch × features.

    `more` ends with the biases of keys and values, whether zeros are appended to these, and the result.
    """
    n_keys: int = key.shape[0] + (more[-4] is not None) + more[-2]
    return 2 * width * (2 * query.numel() + key.numel() + value.numel()) + 4 * query.numel() * n_keys


def _heads(*tensors: Tensor) -> int:
    """Number of matrices when these tensors are broadcast."""
    batches = [tensor.shape[-3::-1] for tensor in tensors]
    return math.prod(map(max, itertools.zip_longest(*batches, fillvalue=1)))


def _grouped_mm(a: Tensor, b: Tensor, *_: Any, out_val: Tensor, **__: Any) -> int:
    """Groups of rows of ``a``, each multiplied by the matrix of its group.

    If both are matrices, the inner dimension is split instead, and every group makes a whole matrix.
    """
    if a.dim() == b.dim() == 2:  # noqa: PLR2004 - matrices
        return 2 * a.shape[0] * a.shape[1] * b.shape[1]
    return _rows_product(a, out_val=out_val)


def _recurrent_layer(given: Tensor, w_ih: Tensor, w_hh: Tensor, *_: Any, **__: Any) -> int:
    """One LSTM layer and direction: each step multiplies the input and the state by their weights."""
    steps = math.prod(given.shape[:-1])
    return 2 * steps * (w_ih.numel() + w_hh.numel())


def _recurrent(given: Tensor, *args: Any, **__: Any) -> int:
    """A recurrent network: every step multiplies by every matrix once.

    The parameters are the last list among the arguments: after the state and the batch sizes of packed sequences.
    """
    parameters: Sequence[Tensor] = [arg for arg in args[:3] if isinstance(arg, list | tuple)][-1]
    steps = math.prod(given.shape[:-1])
    return 2 * steps * sum(p.numel() for p in parameters if p.dim() == 2)  # noqa: PLR2004 - matrices, not biases


def _quantised_convolution(_given: Tensor, packed: Any, *_: Any, out_val: Tensor, **__: Any) -> int:
    """As a convolution, with packed weights."""
    kernel: int = math.prod(packed.unpack()[0].shape[1:])
    return 2 * out_val.numel() * kernel


_QUANTISED_ENDINGS = ("", "_relu", "_dynamic", "_relu_dynamic", "_dynamic_fp16", "_leaky_relu", "_tanh")
_ATTENTIONS = (
    *("cudnn_attention", "efficient_attention", "flash_attention", "flash_attention_for_cpu"),
    "fused_attention_overrideable",
)
_MORE: dict[str, Callable[..., int]] = {
    **{f"quantized.linear{ending}": _rows_product for ending in _QUANTISED_ENDINGS},
    **{
        f"quantized.conv{n}d{ending}": _quantised_convolution for n in (1, 2, 3) for ending in ("", "_relu", "_dynamic")
    },
    **dict.fromkeys(("aten._int_mm", "aten._weight_int8pack_mm", "aten._weight_int4pack_mm"), _rows_product),
    **dict.fromkeys(("aten._weight_int4pack_mm_for_cpu", "aten.dot", "aten.mv", "aten.vdot"), _rows_product),
    "aten.addmv": _addmv,
    "aten.addbmm": _addbmm,
    "aten.baddbmm": flop_registry[torch.ops.aten.baddbmm],  # in place, too
    **{f"aten.{name}": flop_registry[torch.ops.aten.addmm] for name in ("addmm", "_sparse_addmm", "_addmm_activation")},
    **{f"aten._scaled_dot_product_{kind}": _attention for kind in _ATTENTIONS},
    "aten._grouped_mm": _grouped_mm,
    "aten._scaled_grouped_mm": _grouped_mm,
    "aten.mkldnn_rnn_layer": _recurrent_layer,
    **dict.fromkeys(("aten.lstm", "aten.gru", "aten.rnn_tanh", "aten.rnn_relu"), _recurrent),
}
_CALLS = {
    **dict.fromkeys(("__matmul__", "matmul", "vdot"), CallFormula(_product, ("input", "other"))),
    **dict.fromkeys(("bmm", "mm"), CallFormula(_product, ("input", "mat2"))),
    "dot": CallFormula(_product, ("input", "tensor")),
    "mv": CallFormula(_product, ("input", "vec")),
    "linear": CallFormula(_product, ("input", "weight")),
    "addmm": CallFormula(_added_product, ("input", "mat1", "mat2")),
    "baddbmm": CallFormula(_added_product, ("input", "batch1", "batch2")),
    **{f"conv{n}d": CallFormula(_convolution, ("input", "weight")) for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": CallFormula(_transposed_convolution, ("input", "weight")) for n in (1, 2, 3)},
    "multi_head_attention_forward": CallFormula(
        _multi_head_attention, positional_names(torch.nn.functional.multi_head_attention_forward)[0][:10]
    ),
    "scaled_dot_product_attention": CallFormula(_attention, ("query", "key", "value")),
}
"""Public functions that cost something."""
