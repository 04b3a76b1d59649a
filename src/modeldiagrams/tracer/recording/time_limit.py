"""Ends a pass that takes too long, at its next call of PyTorch. Only for searches, which have other passes to make."""

from __future__ import annotations

import functools
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PassTooLongError", "check_time", "is_query", "time_limited"]


class PassTooLongError(RuntimeError):
    """A pass took more processor time than a search has for it."""


end: float | None = None
"""Processor time of this process at which the running pass ends: passes run one after the other, on any thread."""


@contextmanager
def time_limited(seconds: float) -> Iterator[None]:
    """Limit the processor time of the passes in the block."""
    global end  # noqa: PLW0603  (looked at in every call of PyTorch, also on threads of the model's)
    before, end = end, time.process_time() + seconds
    try:
        yield
    finally:
        end = before


def check_time(operator: Any = None) -> None:
    """Raise if the running pass has had its time.

    Args:
        operator: The one that is called, in a dispatch mode.

    Raises:
        PassTooLongError: unless the operator is a query.
    """
    if end is not None and time.process_time() > end and not is_query(operator):
        raise PassTooLongError("this pass takes too long")


@functools.cache
def is_query(operator: Any) -> bool:
    """Whether an operator returns no tensor, but a property of one, such as its device.

    Autograd makes such calls from C++ functions that can't pass on an error: it would end the process.
    """
    schema = getattr(operator, "_schema", None)
    return schema is not None and not any("Tensor" in str(returned.type) for returned in schema.returns)
