"""A pytest plugin: the first test process that dies ends the run, and doesn't wait for what others still have to do."""

from __future__ import annotations

import pytest


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Called with what xdist reports of a process that died; `--max-worker-restart 0` alone lets the others go on."""
    if report.when == "???":
        pytest.exit(f"the process that ran {report.nodeid} died", returncode=pytest.ExitCode.INTERRUPTED)
