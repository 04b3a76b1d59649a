"""Measures the longest task of a page's main thread in CPU time, which other work on the machine changes little."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_CATEGORIES = ["disabled-by-default-devtools.timeline", "blink.user_timing"]
_OPENED = "opened"
_FROM_HERE = "from here"


class Longest:
    """The result of `longest_task`, in milliseconds, after its block."""

    ms: float = 0


@contextmanager
def longest_task(browser: Browser, page: Page) -> Iterator[Longest]:
    """Measure the longest task of a page during the block, from its last call of `from_here` on."""
    found = Longest()
    page.add_init_script(f"performance.mark({_OPENED!r})")
    browser.start_tracing(page=page, categories=_CATEGORIES)
    yield found
    found.ms = _longest(json.loads(browser.stop_tracing())["traceEvents"])


def from_here(page: Page) -> None:
    """Ignore the tasks so far."""
    page.evaluate(f"performance.mark({_FROM_HERE!r})")


def _longest(events: list[dict[str, Any]]) -> float:
    # the browser has its own pages
    (page,) = {event["pid"] for event in events if event["name"] == _OPENED}
    main = {
        event["tid"]
        for event in events
        if event["name"] == "thread_name" and event["pid"] == page and event["args"]["name"] == "CrRendererMain"
    }
    start = max((event["ts"] for event in events if event["name"] == _FROM_HERE), default=0)
    tasks = [event for event in events if event["name"] == "RunTask" and event["pid"] == page and event["tid"] in main]
    return max(event.get("tdur", 0) for event in tasks if event["ts"] >= start) / 1000
