"""The net under the function mode: a dispatch mode that sees every operator torch runs.

It counts floating point operations, and records operators that ran out of the function mode's sight (inside C++
extensions, or in backward passes run by the forward).
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from modeldiagrams.tracer.costs import flop_formula
from modeldiagrams.tracer.internals import Operator, schema_of, unseen_by_modes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modeldiagrams.tracer.recorder import Recorder

__all__ = ["Net"]

_BOOKKEEPING = frozenset({"aten::alias", "aten::detach", "aten::lift_fresh", "aten::lift_fresh_copy"})


class Net(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Enter it on every thread that is recorded, inside the modes that compute."""

    supports_higher_order_operators = True

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._recorder = recorder
        self._formulas: dict[Any, Callable[..., int] | None] = {}

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        here = self._recorder.here
        if func not in self._formulas:
            self._formulas[func] = flop_formula(func)
        formula = self._formulas[func]
        if formula is None and torch.is_inference_mode_enabled() and _has_parts(func):
            # in inference mode composite operators arrive whole
            with self:
                parts = func.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        if here.is_in_the_open:
            if _is_work(func):
                return self._recorder.observe_operator(func, args, kwargs)
            with unseen_by_modes():  # or else the function mode would see the operator
                return func(*args, **kwargs)
        result = func(*args, **kwargs)
        if formula is not None:
            with contextlib.suppress(Exception):  # a formula that does not know what the operator takes
                here.flops = (here.flops or 0) + formula(*args, **kwargs, out_val=result)
        return result


def _has_parts(operator: Any) -> bool:
    return isinstance(operator, Operator) and not schema_of(operator).name.startswith("prim::")


def _is_work(operator: Any) -> bool:
    """Whether an operator computes: not a view or a copy torch makes for itself."""
    return isinstance(operator, Operator) and schema_of(operator).name not in _BOOKKEEPING
