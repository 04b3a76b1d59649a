from __future__ import annotations

import pytest

from modeldiagrams.worker import Worker


@pytest.fixture(scope="session")
def worker():
    """One worker for all tests: importing torch takes most of their time, and other models must make no difference."""
    with Worker() as worker:
        yield worker
