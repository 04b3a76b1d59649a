from __future__ import annotations

import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent / "project"


@pytest.fixture
def project(monkeypatch):
    """The folder of the sample project, importable for the time of a test."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(PROJECT)
    yield PROJECT
    for name in set(sys.modules) - before:
        if name.split(".")[0] in {"mypkg", "broken"}:
            del sys.modules[name]
