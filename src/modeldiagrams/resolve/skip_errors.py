"""Errors in one source of arguments or inputs skip only that source."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from modeldiagrams.errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["attempt", "iterate_safely"]

T = TypeVar("T")
_LONGEST = 120
_LOGGER = logging.getLogger(__name__)


@contextmanager
def errors_logged(what: str, log: list[str] | None = None) -> Iterator[None]:
    """Log what the block raises and continue, except for errors that an author has to see.

    Args:
        what: The source, as the log names it.
        log: Gets a line.
    """
    try:
        yield
    except TargetError:
        raise
    except Exception as error:  # sources read code of any kind
        _LOGGER.debug("%s: %r", what, error, exc_info=error)
        if log is not None:
            log.append(f"{what}: {type(error).__name__}: {error}".partition("\n")[0][:_LONGEST])


def attempt(what: str, log: list[str], source: Callable[[], T | None]) -> T | None:
    """Result of a function; None if it raises."""
    with errors_logged(what, log):
        return source()
    return None


def iterate_safely(items: Iterable[T]) -> Iterator[T]:
    """Items up to the first that raises."""
    iterator = iter(items)
    while True:
        item: list[T] = []
        with errors_logged("a source of arguments"):
            item = [*islice(iterator, 1)]
        if not item:
            return
        yield item[0]
