"""Records what tests call, in the processes of pytest."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from modeldiagrams.record.recorder import Recorder, seed_random
from modeldiagrams.record.run import current_run, end_run, start_run

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["RecordingHooks"]


class RecordingHooks:
    """The hooks of a run that records; the processes of pytest-xdist run tests, and their controller none."""

    def __init__(self, config: pytest.Config) -> None:
        """Begin."""
        known = current_run()
        self._writes_file = known is None
        self._settings = known or start_run()
        is_controller = config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput")
        self._recorder = None if is_controller else Recorder(self._settings)
        self._numbers: dict[str, int] = {}
        self._ran: set[str] = set()
        self._running = ""
        self._root = str(config.rootpath)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Number the tests in their order."""
        self._numbers = {item.nodeid: number for number, item in enumerate(session.items)}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Record one test, with its fixtures."""
        self._running = item.nodeid
        running = self._recorder and self._recorder.running(item.nodeid, self._numbers.get(item.nodeid, 0))
        with running or contextlib.nullcontext():
            result = yield
        self._ran.add(item.nodeid)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, object, object]:
        """Make what modules create while they are imported the same in every run."""
        if self._recorder:
            seed_random(collector.nodeid)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """Make shared fixtures the same, whichever test needs them first."""
        if self._recorder is None or fixturedef.scope == "function":
            return (yield)
        seed_random(f"{fixturedef.baseid}::{fixturedef.argname}")
        try:
            return (yield)
        finally:
            seed_random(self._running)  # the test must not depend on being the first with the fixture

    def pytest_sessionfinish(self) -> None:
        """Leave what was seen."""
        if self._recorder:
            self._recorder.part(self._ran, self._root).leave(self._settings)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the file, unless the command does that which runs pytest."""
        if self._writes_file:
            terminalreporter.section("model calls")
            for line in end_run(self._settings):
                terminalreporter.write_line(line)
