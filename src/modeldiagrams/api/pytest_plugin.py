"""The plugin for pytest, which every run loads; it imports nothing before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from modeldiagrams.api.architecture import Architecture

__all__: list[str] = []

_WRITTEN = "architecture written"
"""The name of a test property, because properties come back from the processes of pytest-xdist."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flags that accept changes and that record calls."""
    group = parser.getgroup("modeldiagrams")
    group.addoption(
        "--update-architectures", action="store_true", help="write the graphs that `architecture.check` compares with"
    )
    group.addoption(
        "--record-model-calls", action="store_true", help="record how tests call models, for diagrams without options"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin to record calls, if that is asked for."""
    if config.getoption("--record-model-calls"):
        from modeldiagrams.record.pytest_hooks import RecordingHooks  # noqa: PLC0415  (no cost for other runs)

        config.pluginmanager.register(RecordingHooks(config))


@pytest.fixture
def architecture(request: pytest.FixtureRequest) -> Architecture:
    """Compare models with graph files committed next to the tests: ``architecture.check(model, (x,))``."""
    from modeldiagrams.api.architecture import Architecture  # noqa: PLC0415  (only for tests that use it)

    return Architecture(
        folder=request.path.parent / "architectures" / request.path.stem,
        test=request.node.nodeid.partition("::")[2],
        root=request.config.rootpath,
        written=(lambda path: request.node.user_properties.append((_WRITTEN, path)))
        if request.config.getoption("--update-architectures")
        else None,
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the written files, to be reviewed and committed."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    properties = [pair for report in reports for pair in getattr(report, "user_properties", ())]
    for path in sorted({str(path) for name, path in properties if name == _WRITTEN}):
        terminalreporter.write_line(f"architecture written: {path}")
