"""Runs a function for many items in threads, with few items and results in memory at a time."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["run_each"]

T = TypeVar("T")
R = TypeVar("R")


def run_each(
    items: Iterable[T],
    run: Callable[[T], R],
    most: int,
    *,
    on_error: Callable[[], object],
    on_start: Callable[[T], object] = lambda _: None,
) -> Iterator[tuple[T, R]]:
    """Yield items with their results, as they come.

    Args:
        items: What to run; the next is taken when a thread is free.
        run: Runs one item.
        most: How many run at a time.
        on_error: Called after an error, or if no more results are wanted; it ends what still runs.
        on_start: Called with each item in order, before it runs.
    """
    pool = ThreadPoolExecutor(most)
    running: dict[Future[R], T] = {}
    try:
        for item in items:
            if len(running) >= most:
                yield from _take_finished(running)
            on_start(item)
            running[pool.submit(run, item)] = item
        while running:
            yield from _take_finished(running)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        on_error()
        raise
    finally:
        pool.shutdown()


def _take_finished(running: dict[Future[R], T]) -> Iterator[tuple[T, R]]:
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        yield running.pop(future), future.result()
