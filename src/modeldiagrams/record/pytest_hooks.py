"""Records what tests call, in the processes of pytest."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from modeldiagrams.record.run import begin, end, in_environment, leave_part, settings_for

if TYPE_CHECKING:
    from collections.abc import Generator

    from modeldiagrams.record.recorder import Recorder

__all__ = ["RecordingHooks"]


class RecordingHooks:
    """The hooks of a run that records; the processes of pytest-xdist run tests, and their controller none."""

    def __init__(self, config: pytest.Config) -> None:
        """Begin."""
        known = in_environment()
        self._ends = known is None
        self._settings = known or settings_for(None, only=(), all_classes=False, snapshot=False)
        in_environment(self._settings)
        is_controller = config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput")
        self._recorder: Recorder | None = None if is_controller else begin(self._settings)
        self._numbers: dict[str, int] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Number the tests in their order."""
        self._numbers = {item.nodeid: number for number, item in enumerate(session.items)}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Record one test, with its fixtures."""
        running = self._recorder and self._recorder.running(item.nodeid, self._numbers.get(item.nodeid, 0))
        with running or contextlib.nullcontext():
            return (yield)

    def pytest_sessionfinish(self) -> None:
        """Leave what was seen."""
        if self._recorder:
            leave_part(self._settings, self._recorder, {name.partition("::")[0] for name in self._numbers})

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the file, unless the command does that which runs pytest."""
        if self._ends:
            terminalreporter.section("model calls")
            for line in end(self._settings):
                terminalreporter.write_line(line)
