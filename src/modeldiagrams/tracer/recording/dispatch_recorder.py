"""A dispatch mode that sees every operator torch runs.

It counts floating point operations where a function has no formula, and records operators that the function mode does
not see: inside C++ extensions, or in backward passes run by the forward.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from modeldiagrams.tracer.recording.work_limit import count_call
from modeldiagrams.tracer.torch_facts.flops import count_nested, flop_formula
from modeldiagrams.tracer.torch_facts.private_api import Operator, schema_of, sizes_as_numbers, unseen_by_modes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modeldiagrams.tracer.recording.op_recorder import OpRecorder

_ON_NESTED = frozenset({torch.ops.aten.linear.default, torch.ops.aten.matmul.default, torch.ops.aten.bmm.default})
"""Operators that have kernels for nested tensors, and count."""
_BOOKKEEPING = frozenset({"aten::alias", "aten::detach", "aten::lift_fresh", "aten::lift_fresh_copy"})


class DispatchRecorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Enter it on every thread that is recorded, inside the modes that compute."""

    __slots__ = ("_mode_key",)
    """Never set. Torch reads it whenever it enters a mode, and an empty slot fails faster than a missing attribute."""
    supports_higher_order_operators = True

    def __init__(self, recorder: OpRecorder) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._recorder = recorder
        self._formulas: dict[Any, Callable[..., int] | None] = {}

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        count_call(func)
        kwargs = kwargs or {}
        context = self._recorder.context
        if func not in self._formulas:
            self._formulas[func] = flop_formula(func)
        formula = self._formulas[func]
        if formula is None and (context.in_nested or torch.is_inference_mode_enabled()) and _has_parts(func):
            # in inference mode and below autograd, composite operators are not decomposed before they arrive
            with self:
                parts = func.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        if context.records_ops:
            if _is_work(func):
                with self:  # counts it, as it counts operators inside functions
                    return self._recorder.observe_operator(func, args, kwargs)
            with unseen_by_modes():  # otherwise the function mode would see the operator
                return func(*args, **kwargs)
        counts = formula is not None or func in _ON_NESTED
        if counts and (nested := _jagged_class(types)) is not None:  # it runs operators on plain tensors
            outer, context.in_nested = context.in_nested, True
            try:
                with self:
                    return nested.__torch_dispatch__(func, types, args, kwargs)
            finally:
                context.in_nested = outer
        result = func(*args, **kwargs)
        if counts and func in _ON_NESTED and any(isinstance(arg, Tensor) and arg.is_nested for arg in args):
            context.flops = (context.flops or 0) + count_nested(func, args, kwargs)
        elif formula is not None:
            with contextlib.suppress(Exception):  # the formula does not know these arguments
                counted = formula(*args, **kwargs, out_val=result)
                if type(counted) is not int:
                    with sizes_as_numbers():
                        counted = formula(*args, **kwargs, out_val=result)
                context.flops = (context.flops or 0) + counted
        return result


def _jagged_class(types: Sequence[type]) -> Any:
    """The class of nested tensors of the layout `torch.jagged`, if it is among these."""
    return next((kind for kind in types if kind.__module__ == "torch.nested._internal.nested_tensor"), None)


def _has_parts(operator: Any) -> bool:
    return isinstance(operator, Operator) and not schema_of(operator).name.startswith("prim::")


def _is_work(operator: Any) -> bool:
    """Whether an operator computes something, unlike the aliases and copies that torch makes for itself."""
    return isinstance(operator, Operator) and schema_of(operator).name not in _BOOKKEEPING
