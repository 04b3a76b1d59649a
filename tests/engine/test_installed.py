from __future__ import annotations

import sys
from importlib import metadata

import pytest

from modeldiagrams import installed
from modeldiagrams.installed import has_torch, made_with


@pytest.fixture
def own_code(monkeypatch, tmp_path):
    """A copy of what decides, to be edited."""
    (tmp_path / "tracer" / "deep").mkdir(parents=True)
    file = tmp_path / "tracer" / "deep" / "rules.py"
    file.write_text("first = 1\n")
    monkeypatch.setattr(installed, "_PACKAGE", tmp_path)
    installed._own_code.cache_clear()
    yield file
    installed._own_code.cache_clear()


def test_a_distribution_is_found_by_what_it_installs():
    assert metadata.version("PyYAML") in made_with("yaml.nodes.Node")
    assert metadata.version("PyYAML") not in made_with("mypkg.Model")
    assert metadata.version("torch") in made_with("mypkg.Model")
    assert has_torch()


def test_an_interpreter_is_asked_for_its_own(tmp_path):
    info = tmp_path / "lib" / "python3.12" / "site-packages" / "net-9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: net\nVersion: 9.9\n")
    (info / "RECORD").write_text("mynet/__init__.py,,\n")
    assert "9.9" in made_with("mynet.Net", str(tmp_path / "bin" / "python"))
    assert metadata.version("torch") not in made_with("mynet.Net", str(tmp_path / "bin" / "python"))
    assert metadata.version("torch") in made_with("mynet.Net", sys.executable)


def test_our_own_code_counts(own_code):
    before = made_with("mypkg.Model")
    own_code.write_text("second = 2\n")
    installed._own_code.cache_clear()
    assert made_with("mypkg.Model") != before
