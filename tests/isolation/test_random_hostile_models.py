"""A few models of the generator; `tests/zoo` has two hundred."""

from __future__ import annotations

from isolation.random_models import SECRET, check


def test_hostile_models_do_not_affect_others(tmp_path, monkeypatch):
    monkeypatch.setenv(*SECRET)
    check(tmp_path, range(4))
