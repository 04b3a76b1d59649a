"""Numbers that remember that they were read from a tensor, so that comparisons of them are decisions.

Only comparisons and tests that the model's code writes count: the tracer, torch and functions written in C compare
numbers, too. ``int(x)`` and ``float(x)`` make plain numbers of any number.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import TypeAlias

    Decide: TypeAlias = Callable[[FrameType, bool], bool]
    """Takes the frame that decides, and the model's own answer; returns the answer to give."""

__all__ = ["track_numbers"]

_COMPARISONS = ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__", "__bool__")
_ARITHMETIC = (
    *("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__"),
    *("__floordiv__", "__mod__", "__pow__", "__neg__", "__abs__", "__round__"),
)


def track_numbers(value: Any, decide: Decide) -> Any:
    """Replace numbers by such that track what is decided with them, also in lists."""
    if type(value) is list:
        return [track_numbers(each, decide) for each in value]
    if type(value) not in _TRACKED:
        return value
    tracked = _TRACKED[type(value)](value)
    tracked.decide = decide
    return tracked


def _compared(plain: Callable[..., Any]) -> Callable[..., Any]:
    def compare(self: Any, *others: Any) -> Any:
        result = plain(self, *others)
        return self.decide(sys._getframe(1), result) if isinstance(result, bool) else result  # noqa: SLF001

    return compare


def _computed(plain: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *others: track_numbers(plain(self, *others), self.decide)


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    yield "__hash__", kind.__hash__
    for name in _COMPARISONS:
        yield name, _compared(getattr(kind, name))
    for name in _ARITHMETIC:
        yield name, _computed(getattr(kind, name))


_TRACKED: dict[type, Any] = {
    kind: type(f"Tracked_{kind.__name__}", (kind,), dict(_methods(kind))) for kind in (int, float)
}
