"""Ends a pass that does too much work, at its next call of PyTorch. Only for searches, which try many passes.

Work is counted and not timed, so that a pass ends at the same call on every machine and under any load.
"""

from __future__ import annotations

import functools
import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PassTooLargeError", "Work", "count_call", "count_operations", "is_query", "work_limited"]


class PassTooLargeError(RuntimeError):
    """A pass did more work than its search allows."""


@dataclass
class Work:
    """The work that a pass may still do."""

    calls: int
    """Calls of PyTorch: functions, and the operators that they run."""
    operations: float = math.inf
    """Floating point operations and elements computed with values. Shapes alone cost nothing."""


left: Work | None = None
"""For the running pass: passes run one after the other, on any thread."""


@contextmanager
def work_limited(work: Work) -> Iterator[None]:
    """Limit the work of the passes in the block, which count down what is left."""
    global left  # noqa: PLW0603  (looked at in every call of PyTorch, also on threads of the model's)
    before, left = left, work
    try:
        yield
    finally:
        left = before


def count_call(operator: Any = None) -> None:
    """Count a call that is about to run.

    Args:
        operator: The one that is called, in a dispatch mode.

    Raises:
        PassTooLargeError: if the pass has no work left, unless the operator is a query.
    """
    if left is None or is_query(operator):
        return
    left.calls -= 1
    if left.calls < 0 or left.operations < 0:
        raise PassTooLargeError("this pass does too much work")


def count_operations(result: Any, operations: int | None) -> None:
    """Count what a call computed: its floating point operations, or else the elements that it made."""
    if left is not None:
        made = [each for each in (result if isinstance(result, tuple | list) else [result]) if isinstance(each, Tensor)]
        computed = [each for each in made if not isinstance(each, FakeTensor) and not each.is_meta]
        left.operations -= (operations or sum(each.numel() for each in computed)) if computed else 0


@functools.cache
def is_query(operator: Any) -> bool:
    """Whether an operator returns no tensor, but a property of one, such as its device.

    Autograd makes such calls from C++ functions that can't pass on an error: it would end the process.
    """
    schema = getattr(operator, "_schema", None)
    return schema is not None and not any("Tensor" in str(returned.type) for returned in schema.returns)
