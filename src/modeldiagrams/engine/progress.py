"""Shows on stderr how many models are traced: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from typing import Any, Self

import click

__all__ = ["Progress"]

_REDRAW = 0.2
"""Seconds between two changes of the bar."""
_EVERY = 10
"""Seconds between two lines in a log."""
_NAMED = 2
"""How many running models are named."""
_WIDTH = 20
_TAKEN = _WIDTH + 27
"""Columns that the bar takes with its label and the time left."""


class Progress:
    """The progress of a number of models. Use it in a ``with`` statement."""

    def __init__(self, total: int, doing: str = "running") -> None:
        """Prepare for a number of models; `doing` says what those do that have begun and not ended."""
        self._total = total
        self._doing = doing
        self._running: list[str] = []
        self._done = self._failed = 0
        self._start = time.monotonic()
        self._has_ended = threading.Event()
        self._thread = threading.Thread(
            target=self._show_bar if sys.stderr.isatty() else self._write_lines, daemon=True
        )

    def start(self, model: str) -> None:
        """Note that a model begins to run."""
        self._running.append(model)

    def end(self, model: str, *, has_failed: bool) -> None:
        """Note that a model has run."""
        self._running.remove(model)
        self._done += 1
        self._failed += has_failed

    def __enter__(self) -> Self:
        if self._total:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._has_ended.set()
        if self._total:
            self._thread.join()

    def _write_lines(self) -> None:
        while not self._has_ended.wait(_EVERY):
            click.echo(f"traced {self._done} of {self._total} models, {self._describe()}", err=True)

    def _show_bar(self) -> None:
        shown: Any = click.progressbar(
            length=self._total,
            label="tracing",
            show_pos=True,
            width=_WIDTH,
            item_show_func=lambda _: self._describe()[: self._room()],
            file=sys.stderr,
        )
        with shown as bar:
            while not self._has_ended.wait(_REDRAW):
                self._draw(bar)
            self._draw(bar)

    def _draw(self, bar: Any) -> None:
        bar.update(self._done - bar.pos)
        bar.render_progress()  # the time, and what runs

    def _room(self) -> int:
        """Return how many characters fit into the line, which can't be drawn over if it is longer than the terminal."""
        return max(0, shutil.get_terminal_size().columns - _TAKEN - 2 * len(str(self._total)))

    def _describe(self) -> str:
        rate = self._done / max(time.monotonic() - self._start, _REDRAW)
        # those that run for the longest
        named, more = self._running[:_NAMED], len(self._running) - _NAMED
        names = ", ".join([*named, *([f"{more} more"] if more > 0 else [])])
        return f"{self._failed} failed, {rate:.1f}/s" + (f"; {self._doing}: {names}" if names else "")
