"""A pytest plugin for whole runs: their processes, interrupts, and an end as soon as a process dies."""

from __future__ import annotations

import os
import signal

import pytest


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Called with what xdist reports of a process that died; `--max-worker-restart 0` alone lets the others go on."""
    if report.when == "???":
        pytest.exit(f"the process that ran {report.nodeid} died", returncode=pytest.ExitCode.INTERRUPTED)


@pytest.hookimpl
def pytest_configure() -> None:
    """Let interrupts reach the commands that tests start: shells start background jobs with interrupts ignored."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores, because tests often wait for browsers, builders and workers."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1
