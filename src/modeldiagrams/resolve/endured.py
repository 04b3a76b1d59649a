"""What one source of arguments or inputs raises costs that source, and no other one."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from modeldiagrams.errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["attempted", "each_of"]

T = TypeVar("T")
_LONGEST = 120
_LOGGER = logging.getLogger(__name__)


@contextmanager
def endured(what: str, log: list[str] | None = None) -> Iterator[None]:
    """Go on behind the block whatever it raises, but for what an author has to know.

    Args:
        what: The source, as the log names it.
        log: Gets a line.
    """
    try:
        yield
    except TargetError:
        raise
    except Exception as error:  # a source reads code that nobody has foreseen
        _LOGGER.debug("%s: %r", what, error, exc_info=error)
        if log is not None:
            log.append(f"{what}: {type(error).__name__}: {error}".partition("\n")[0][:_LONGEST])


def attempted(what: str, log: list[str], source: Callable[[], T | None]) -> T | None:
    """The answer of a source; None if it raises."""
    with endured(what, log):
        return source()
    return None


def each_of(items: Iterable[T]) -> Iterator[T]:
    """All items up to one that can't be made."""
    iterator = iter(items)
    while True:
        item: list[T] = []
        with endured("a source of arguments"):
            item = [*islice(iterator, 1)]
        if not item:
            return
        yield item[0]
