"""Two hundred models that do harm at random: healthy ones beside them have the pages that they have alone."""

from __future__ import annotations

import pytest

from isolation.random_models import SECRET, check


@pytest.mark.parametrize("first", range(0, 200, 40))
def test_nobody_notices_hostile_models(tmp_path, monkeypatch, first):
    monkeypatch.setenv(*SECRET)
    check(tmp_path, range(first, first + 40))
