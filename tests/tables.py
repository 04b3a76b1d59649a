"""A plugin for pytest: what sweeps say is printed when each ends, and at the end how every file of `make zoo` went."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

NAME = "tables of sweeps"
LINE, SHARE, ZOO, SECONDS = "line of a table", "share", "of the zoo", "seconds"
"""Kinds of properties of reports: so they come from other processes, too."""


@dataclass
class FileOfTests:
    """How the tests of one file went."""

    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0
    """Of a processor, on a machine that others may use, too."""
    shares: list[str] = field(default_factory=list)

    def add(self, report: pytest.TestReport) -> None:
        """Count a test once, where it was called or where it never came to that."""
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.outcome] += 1
        for kind, value in report.user_properties:
            self.shares += [str(value)] if kind == SHARE else []
            self.seconds += float(value) if kind == SECONDS else 0

    def line(self, path: str) -> str:
        """One line for a reader."""
        counted = ", ".join(f"{self.outcomes[name]} {name}" for name in sorted(self.outcomes))
        return f"{self.seconds:6.0f} s  {path}: {counted}"


def processor_seconds() -> float:
    """What this process has used, and those that it started and that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Tables:
    """Collects lines in the process that runs tests, and prints them in the one that a person started."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._said: list[tuple[str, str]] = []
        self._begun = processor_seconds()
        self._files: dict[str, FileOfTests] = defaultdict(FileOfTests)

    def say(self, line: str) -> None:
        """Add a line to the table of the test that runs."""
        self._said.append((LINE, line))

    def share(self, what: str, count: int, total: int) -> None:
        """Say how much was reached, which is printed at the end once more."""
        self._said.append((SHARE, f"{what}: {count} of {total} ({count / max(total, 1):.1%})"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        """Give what was said to the next report: that of a test, or of the end of what several share."""
        report = yield
        report.user_properties += [(ZOO, item.get_closest_marker("zoo") is not None), *self._said]
        before, self._begun = self._begun, processor_seconds()
        report.user_properties.append((SECONDS, self._begun - before))
        self._said.clear()
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print at once, for a run that doesn't come to its end tells what it found, too."""
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is None:
            return
        if (ZOO, True) in map(tuple, report.user_properties):
            self._files[report.nodeid.partition("::")[0]].add(report)
        lines = [str(line) for kind, line in report.user_properties if kind in {LINE, SHARE}]
        if lines:
            terminal.write("\n".join(["", *lines, ""]))  # after the dots of earlier tests

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print one line of each file, with its shares."""
        if self._files:
            terminalreporter.section("zoo, in seconds of a processor")
        for path, file in sorted(self._files.items()):
            terminalreporter.write_line(file.line(path))
            for share in file.shares:
                terminalreporter.write_line(f"{'':10}{share}")


def pytest_configure(config: pytest.Config) -> None:
    """Start collecting."""
    config.pluginmanager.register(Tables(config), NAME)


@pytest.fixture(scope="session")
def report(pytestconfig: pytest.Config):
    """Adds a line to the tables."""
    return pytestconfig.pluginmanager.get_plugin(NAME).say


@pytest.fixture(scope="session")
def share(pytestconfig: pytest.Config):
    """Says how many of how many were found, as ``share("of timm", 150, 160)``."""
    return pytestconfig.pluginmanager.get_plugin(NAME).share
